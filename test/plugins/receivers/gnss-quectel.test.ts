import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Framer } from 'rtk-base/gnss'
import t from 'tap'
import { changed, outputCommands, storedSettings } from '../../../plugins/receivers/gnss-quectel/plan.js'
import * as said from '../../../plugins/receivers/gnss-quectel/sentences.js'
import { Sky } from '../../../plugins/receivers/gnss-quectel/sky.js'

const recordings = process.env.RTK_BASE_CAPTURES ?? join(process.cwd(), '..', 'shared', 'captures')
const noRecordings = existsSync(join(recordings, 'receivers')) ? false : 'no recordings beside this folder'

/** What a recorded LG290P sent, as one stream. */
function recorded(name: string): Uint8Array {
  const path = join(recordings, 'receivers', `quectel-lg290p-${name}.jsonl`)
  const records = readFileSync(path, 'utf8').trim().split('\n')
  return Buffer.concat(
    records
      .map((record) => JSON.parse(record) as { ascii?: string; bin?: string })
      .map(({ ascii, bin = '' }) => (ascii === undefined ? Buffer.from(bin, 'hex') : Buffer.from(ascii, 'latin1'))),
  )
}

function sentencesOf(bytes: Uint8Array): said.Sentence[] {
  const sentences: said.Sentence[] = []
  const framer = new Framer({
    onFrame: (frame) => {
      if (frame.kind === 'nmea') sentences.push(said.sentenceOf(frame.bytes))
    },
  })
  framer.push(bytes, 0)
  framer.flush()
  return sentences
}

const sentence = (text: string): said.Sentence => text.split(',')

t.test('recordings of an LG290P', { skip: noRecordings }, async (t) => {
  t.test('position, time and the end of an epoch', async (t) => {
    const sentences = sentencesOf(recorded('survey'))
    const fixes = sentences.flatMap((one) => said.fixOf(one, 2.5, 7) ?? [])
    t.equal(fixes.length, 7)
    t.match(fixes[0], { fix: '3d', ok: true, acc_m: 2.5, satellitesUsed: 22, geoidSeparation_m: -30.85, arrival_ms: 7 })
    t.equal(fixes[0]?.t, Date.UTC(2026, 8, 30, 0, 9, 50) / 1000)
    t.ok(Math.abs((fixes[0]?.alt ?? 0) - (3.243 - 30.85)) < 1e-9, 'above the ellipsoid')
    t.strictSame(sentences.flatMap((one) => said.towOf(one) ?? []).slice(0, 2), [259_808_000, 259_809_000])
  })

  t.test('satellites of a sky with BeiDou alone', async (t) => {
    const sky = new Sky()
    let ended: ReturnType<Sky['end']>
    for (const one of sentencesOf(recorded('factory'))) {
      if (one[0] === 'GNGGA') ended = sky.end() ?? ended
      sky.read(one)
    }
    t.strictSame(
      ended?.map(({ constellation, satellite }) => `${constellation} ${satellite}`),
      [2, 3, 6, 9, 19, 22, 36, 39].map((number) => `beidou ${number}`),
    )
    t.ok(ended?.every(({ used }) => used))
    const nineteenth = ended?.find(({ satellite }) => satellite === 19)
    t.match(nineteenth, { azimuth_deg: 130, elevation_deg: 75, cno_dbhz: 51, locked: true })
    t.strictSame(
      nineteenth?.signals.map(({ signal }) => signal),
      ['B1I', 'B3I', 'B1C', 'B2a', 'B2b'],
    )
    t.equal(sky.end()?.length !== undefined, true)
    t.equal(sky.end(), undefined, 'nothing was said since')
  })
})

t.test('satellites of epochs whose end is lost do not pile up', async (t) => {
  const sky = new Sky()
  for (let epoch = 0; epoch < 50_000; epoch++) sky.read(sentence(`GPGSV,1,1,01,07,50,130,${20 + (epoch % 30)},1`))
  sky.read(sentence(`GPGSV,1,1,01,07,50,130,33,${'9'.repeat(900)}`))
  const [one] = sky.end() ?? []
  t.strictSame(
    one?.signals.map(({ signal, cno_dbhz }) => [signal, cno_dbhz]),
    [
      ['L1', 20],
      ['signal 9', 33],
    ],
  )
  t.equal(one?.cno_dbhz, 33)
})

t.test('answers', async (t) => {
  const answer = (asked: string, text: string) => said.answerTo(asked, sentence(text))
  t.strictSame(answer('PQTMCFGRCVRMODE,R', 'PQTMCFGRCVRMODE,OK,2'), ['2'])
  t.equal(answer('PQTMCFGRCVRMODE,W,2', 'PQTMCFGRCVRMODE,ERROR,1'), 'wrong parameters')
  t.equal(answer('PQTMCFGRCVRMODE,R', 'PQTMCFGSVIN,OK,0'), undefined)
  const rate = 'PQTMCFGMSGRATE,R,GSV'
  t.equal(answer(rate, 'PQTMCFGMSGRATE,OK,GSA,1'), undefined, 'the rate of another message')
  t.strictSame(answer(rate, 'PQTMCFGMSGRATE,OK,GSV,1'), ['GSV', '1'])
  t.match(said.versionOf(sentence('PQTMVERNO,LG290P03AANR02A01S,2025/12/12,10:05:52')), {
    ...{ module: 'LG290P', firmware: 'LG290P03AANR02A01S 2025/12/12' },
  })
  t.equal(said.versionOf(sentence('PQTMVERNO,ERROR,3')), undefined)
})

t.test('what it holds', async (t) => {
  const place = ['2', '0', '0.0', '1.0000', '-2.0000', '3.5000']
  t.strictSame(said.targetOf('2', place), { mode: 'fixed', arp: { x: 1, y: -2, z: 3.5 }, acc_m: 0 })
  t.strictSame(said.targetOf('1', place), { mode: 'rover' }, 'a stored position has no effect in a rover')
  t.strictSame(said.targetOf('2', ['1', '60', '1.0', '0.0000', '0.0000', '0.0000']), { mode: 'survey-in' })
  t.strictSame(said.targetOf('2', ['0', '0', '0.0', '0.0000', '0.0000', '0.0000']), { mode: 'survey-in' })
})

t.test('flash is written only where something differs', async (t) => {
  const settings = {
    ...({ msm: 7, observationInterval_s: 1, referenceInterval_s: 5, biasInterval_s: 10 } as const),
    ...{ elevationMask_deg: undefined, constellations: undefined },
  }
  const target = { mode: 'fixed', arp: { x: -1144698.0745, y: 6090333.7391, z: 1504171.8104 }, acc_m: 0 } as const
  const held: Record<string, string[]> = {
    PQTMCFGRCVRMODE: ['2'],
    PQTMCFGSVIN: ['2', '0', '0.0', '-1144698.0745', '6090333.7391', '1504171.8104'],
    PQTMCFGRTCM: ['7', '0', '-90.0', '07', '06', '2', '30'],
    PQTMCFGCNST: ['1', '1', '1', '1', '1', '1'],
  }
  const differences = (chosen = settings as Parameters<typeof storedSettings>[1]) =>
    storedSettings(target, chosen).flatMap((setting) => {
      const values = changed(setting, held[setting.name] ?? [])
      return values ? [`${setting.name},${values}`] : []
    })
  t.strictSame(differences(), [])
  held.PQTMCFGSVIN = ['2', '0', '0.0', '-1144698.0746', '6090333.7391', '1504171.8104']
  t.strictSame(differences(), ['PQTMCFGSVIN,2,0,0,-1144698.0745,6090333.7391,1504171.8104'], 'a tenth of a millimetre')
  t.strictSame(differences({ ...settings, msm: 4, constellations: ['gps'] }).slice(1), [
    'PQTMCFGRTCM,4,0,-90.0,07,06,2,30',
    'PQTMCFGCNST,1,0,0,0,1,1',
  ])
  const outputs = outputCommands({ ...settings, constellations: ['gps'] }, 7)
  t.ok(outputs.includes('PQTMCFGRSID,W,7'))
  t.ok(outputs.includes('PQTMCFGMSGRATE,W,RTCM3-112X,0,0'))
  t.notOk(
    outputs.some((command) => /1230|SAVEPAR|GNSSST/.test(command)),
    'nothing is saved, nothing hangs it',
  )
})
