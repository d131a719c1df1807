import { join } from 'node:path'
import t from 'tap'
import system from '../../../plugins/device/system/index.js'
import { type BaseFacts, baseState, summaryOf } from '../../../plugins/device/verdict/base-state.js'
import verdict from '../../../plugins/device/verdict/index.js'
import { type Facts, judge, rules } from '../../../plugins/device/verdict/rules.js'
import { failedOutputs } from '../../../plugins/device/verdict/verdict-watch.js'
import httpApi from '../../../plugins/page/http-api/index.js'
import gnssZed from '../../../plugins/receivers/gnss-zed/index.js'
import rtcm from '../../../plugins/rtcm/rtcm/index.js'
import { speakerOf } from '../../../runtime/lib/page/ui/station/speaker.js'
import { textFiles } from '../../../runtime/loader/texts.js'
import { SimulatedMachine } from '../../../runtime/platform/ports/machine.js'
import { packageRoot } from '../../../runtime/platform/release.js'
import { Steady } from '../../../runtime/platform/time/steady.js'
import { definePlugin } from '../../../runtime/plugin.js'
import { type Fitness, gnssStatuses } from '../../../schemas/index.js'
import {
  type Link,
  procedureStatus,
  type Reception,
  type RtcmJudge,
  type RtcmStream,
  reception,
  rtcmGate,
  rtcmStream,
  type Severity,
  verdict as verdictService,
} from '../../../schemas/services.js'
import { arpFrame, createTestStation, fakeReceiver, few, ManualClock, probe } from '../../harness/index.js'
import { englishOf } from '../../harness/standing-errors.js'
import { setUp as simulator } from '../receivers/simulator-rig.js'
import { type Definition, FakeBase, home, setUp } from '../reference/survey-in-rig.js'

const plugins = { verdict: verdict as unknown as Definition, system: system as unknown as Definition }

t.test('base.state.base', async (t) => {
  const silent: BaseFacts = { stopping: false, updating: false, status: undefined, sending: false, elapsed_ms: 0 }
  const late = { ...silent, elapsed_ms: 120_000 }
  /** What a status means: at first, later, and while RTCM goes out. */
  const byStatus: Record<string, [string, string, string]> = {
    offline: ['starting', 'degraded', 'ready'],
    stalled: ['starting', 'degraded', 'ready'],
    identify: ['starting', 'degraded', 'ready'],
    configure: ['starting', 'degraded', 'ready'],
    acquire: ['starting', 'degraded', 'ready'],
    initial: ['starting', 'degraded', 'ready'],
    survey: ['surveying', 'surveying', 'surveying'],
    fixed: ['starting', 'degraded', 'ready'],
    moved: ['degraded', 'degraded', 'ready'],
    fault: ['degraded', 'degraded', 'ready'],
    '(no procedure)': ['starting', 'degraded', 'ready'],
  }
  for (const [status, expected] of Object.entries(byStatus)) {
    const facts = { status: status.startsWith('(') ? undefined : status }
    const found = [silent, late, { ...late, sending: true }].map((rest) => baseState({ ...rest, ...facts }))
    t.strictSame(found, expected, status)
  }
  t.strictSame(
    gnssStatuses.filter((status) => !(status in byStatus)),
    [],
    'every status has its row',
  )
  t.equal(baseState({ ...late, status: 'survey', sending: true, stopping: true }), 'stopping')
  const facts = { base: 'ready', status: 'fixed', update: 'idle', onTrial: false, outputs: 2, reason: 'x' } as const
  t.equal(summaryOf(facts), 'fixed, 2 outputs')
  t.equal(summaryOf({ ...facts, update: 'verifying', onTrial: true }), 'update on trial; fixed, 2 outputs')
  t.equal(summaryOf({ ...facts, base: 'updating', update: 'downloading' }), 'update: downloading')
  t.equal(
    summaryOf({ ...facts, base: 'degraded', reason: 'the receiver is offline' }),
    'no RTCM goes out: the receiver is offline',
  )

  await t.test('is surveying during a survey-in, starting until its reference goes out, then ready', async (t) => {
    const said: string[] = []
    const supervisor = {
      ready() {},
      alive() {},
      stopping() {},
      extendStart() {},
      status: (text: string) => void said.push(text),
    }
    let stream: RtcmStream | undefined
    const other = probe([rtcmStream], ({ services }) => {
      stream = services.use(rtcmStream)
    })
    const all = { ...plugins, other: { ...other, name: 'other' } as Definition }
    const rig = await setUp(t, { changes: { 'gnss-survey-mintime': 150 }, plugins: all, supervisor })
    const base = () => rig.station.field('base.state.base')
    t.equal(base(), 'starting')
    await rig.until(() => rig.state() === 'survey', 60)
    t.equal(base(), 'surveying')
    const seen = new Set<unknown>()
    await rig.until(() => {
      seen.add(base())
      return base() === 'ready'
    }, 1_200)
    t.strictSame([...seen], ['surveying', 'starting', 'ready'])
    const last = () => said.at(-1)
    t.ok(said.includes('surveying in'))
    t.equal(last(), 'fixed, 1 output')
    stream?.list({ via: 'mqtt', name: 'x', ip: '' })
    await rig.seconds(11)
    t.equal(last(), 'fixed, 2 outputs')
    const before = said.length
    await rig.seconds(60)
    t.equal(said.length, before, 'only what changes')
    t.ok(
      said.every((text, i) => text !== said[i - 1]),
      said.join(' | '),
    )
    await rig.command('start-survey-in')
    await rig.seconds(1)
    t.match(rig.station.field('base.state'), { base: 'starting', verdict: { why_code: 'starting-survey' } })
    t.strictSame(rig.station.field('base.state.errors'), [], 'what a person asked for is no fault')
    await rig.until(() => base() === 'surveying', 60)
  })

  await t.test('is degraded at once when the receiver of a running base goes away', async (t) => {
    const rig = await setUp(t, { plugins })
    const base = () => rig.station.field('base.state.base')
    await rig.until(() => base() === 'ready', 300)
    await rig.clock.advance(120_000)
    rig.base.receiver.become({ link: 'offline' })
    await rig.clock.advance(100)
    t.equal(base(), 'degraded')
  })

  await t.test(
    'K20: whenever it is degraded, an error says why and what to do, and goes when that is over',
    async (t) => {
      const clock = new ManualClock()
      const fake = fakeReceiver(() => clock.monotonic())
      let become: (status: string) => void = () => {}
      let judge: RtcmJudge | undefined
      const procedure = definePlugin({
        name: 'procedure',
        version: '1.0.0',
        api: '^1.0.0',
        needs: [rtcmGate],
        provides: [procedureStatus],
        setup(ctx) {
          const state = ctx.event<void>()
          const service = { status: 'offline', onState: state.on, wantsCorrections: false, reference: undefined }
          become = (status) => {
            service.status = status
            state.emit()
          }
          ctx.services.provide(procedureStatus, service)
        },
        start(ctx) {
          judge = ctx.services.use(rtcmGate).judge()
          judge.hold({ code: 'moved', text: 'the receiver does not send the reference position' })
        },
      })
      const station = await createTestStation({
        clock,
        plugins: { ...plugins, 'fake-receiver': fake.definition, rtcm, procedure: procedure as unknown as Definition },
      })
      t.teardown(() => station.stop())
      const of = () => {
        const state = station.field('base.state') as { base: string; errors: { code: string; text: string }[] }
        return { base: state.base, errors: state.errors }
      }
      t.strictSame(of(), { base: 'starting', errors: [] })
      // Without a look at the document: the reason is there all the same.
      await clock.advance(121_000)
      t.match(station.device.errors(), [
        {
          code: 'base-degraded',
          text: /does not send the reference position; check/,
          values: { reason_code: 'gate.moved' },
        },
      ])
      const key = 'error.base-degraded.advice.'
      const statusAdvice = Object.entries(englishOf('verdict')).filter(([one]) => one.startsWith(key))
      const advised = new Set<string>()
      for (const status of gnssStatuses) {
        become(status)
        await clock.advance(100)
        const { base, errors } = of()
        if (status === 'survey') t.strictSame([base, errors], ['surveying', []], status)
        else {
          // What follows a survey-in has its time.
          if (base === 'starting') await clock.advance(121_000)
          t.equal(of().base, 'degraded', status)
          t.match(of().errors, [{ code: 'base-degraded', text: /^no RTCM goes out: .+; .+/ }], status)
          for (const [one, advice] of statusAdvice)
            if (one === `${key}${status}` && of().errors[0]?.text.endsWith(advice)) advised.add(one)
        }
      }
      t.same(new Set(advised), new Set(statusAdvice.map(([one]) => one)), 'P5: every advice is given for its status')
      fake.become({ link: 'offline' })
      await clock.advance(100)
      t.match(of().errors, [{ code: 'base-degraded', text: /^no RTCM goes out: the receiver is offline; / }])
      fake.become({ link: 'up' })
      judge?.trust({ arp: home })
      await clock.advance(100)
      t.strictSame(of(), { base: 'ready', errors: [] })
      const said = () => station.lines.filter(({ plugin }) => plugin === 'verdict').length
      const before = said()
      become('fixed')
      await clock.advance(100)
      judge?.hold({ code: 'moved', text: 'the antenna seems to have moved' })
      become('moved')
      await clock.advance(100)
      t.match(of().errors, [{ code: 'base-degraded', text: /; set or choose another reference \(gnss-ref-chosen\)/ }])
      t.equal(said(), before + 1, 'said once, with the advice of where it ended up')
    },
  )

  await t.test('is ready with a receiver that is only listened to while that sends RTCM, not before', async (t) => {
    const base = new FakeBase(new ManualClock())
    base.receiver.become({ mode: 'listening' })
    const rig = await setUp(t, { receiver: base, plugins })
    t.equal(rig.station.field('base.state.base'), 'starting', 'it may well send nothing but NMEA')
    base.receiver.emit(arpFrame(home))
    await rig.clock.advance(100)
    t.equal(rig.station.field('base.state.base'), 'ready')
  })

  for (const interval_s of few(1, [1, 15])) {
    await t.test(`is not ready any more when observations of every ${interval_s} s stop`, async (t) => {
      const rig = await simulator(t, {
        rtcm: { msmInterval_s: interval_s, referenceInterval_s: interval_s, biasInterval_s: 2 * interval_s },
        plugins,
      })
      const base = () => rig.station.field('base.state.base')
      await rig.until(() => base() === 'ready', 300)
      for (let second = 0; second < 100; second++) {
        await rig.seconds(1)
        t.equal(base(), 'ready')
      }
      rig.simulated.antenna('open')
      const since_s = await rig.until(() => base() === 'degraded', 60)
      t.ok(since_s >= 2 && since_s <= 3 * interval_s + 2, `${since_s} s`)
      t.match(rig.station.field('base.state.errors'), [{ text: /antenna/ }])
      rig.simulated.antenna('ok')
      await rig.until(() => base() === 'ready', 120)
      t.strictSame(rig.station.field('base.state.errors'), [])
    })
  }

  await t.test('says that observations are missing, without a look at the document', async (t) => {
    const rig = await setUp(t, { plugins })
    await rig.until(() => rig.state() === 'fixed', 300)
    // So long a history bridges the pause.
    await rig.seconds(60)
    rig.base.observes = false
    await rig.seconds(3)
    t.match([rig.state(), rig.station.device.errors()], ['fixed', []], 'a pause of less than 5 s')
    await rig.seconds(3)
    t.match(rig.station.device.errors(), [{ code: 'base-degraded', text: /observations/ }])
    t.not(rig.state(), 'fixed', 'P1: the procedure sees the same at the same time')
    rig.base.observes = true
    await rig.until(() => rig.state() === 'fixed', 120)
    t.match(rig.station.field('base.state'), { base: 'ready', errors: [] })
  })

  await t.test('spoofed signals are the cause where they hold RTCM back, and only there', async (t) => {
    for (const spoofedHold of [false, true]) {
      const options = { port: 'simulator', simulator: { boot: 'rover' }, spoofedHold }
      const rig = await simulator(t, {
        plugins: { ...plugins, 'gnss-zed': [gnssZed as unknown as Definition, options] },
      })
      const verdict = () => rig.station.field('base.state.verdict') as { code: string; why: string }
      await rig.until(() => verdict().code === 'ok', 300)
      // Four seconds of it are an error, which stays for a minute: the verdict says the same, at the same time.
      rig.simulated.spoof(3)
      for (let second = 0; second < 75; second++) {
        if (second === 4) rig.simulated.spoof(1)
        await rig.seconds(1)
        const isError = rig.station.device.errors().some(({ code }) => code === 'gnss-spoofed')
        const isVerdict = /spoofed/.test(verdict().why)
        if (isError !== isVerdict) t.fail(`S12: after ${second} s: error ${isError}, verdict ${isVerdict}`)
        if (second === 5) t.equal(isError, true)
      }
      await rig.until(() => verdict().code === 'ok', 60)
      rig.simulated.spoof(3)
      await rig.seconds(20)
      t.match(verdict(), { code: spoofedHold ? 'silent' : 'spoofing', why: /spoofed/ })
      if (spoofedHold) continue
      // What stops RTCM then is something else.
      await rig.station.unload('survey-in')
      await rig.seconds(20)
      t.equal(rig.station.field('base.state.base'), 'degraded')
      const codes = rig.station.device.errors().map(({ code }) => code)
      t.ok(codes.includes('gnss-spoofed') && codes.includes('base-degraded'), codes.join(', '))
      t.match(verdict(), { code: 'silent', why: /^no RTCM goes out: / })
      t.notMatch(verdict().why, /spoofed signals|RTCM is still sent/)
    }
  })

  await t.test('a receiver that is only listened to is judged by what it sends', async (t) => {
    const base = new FakeBase(new ManualClock())
    base.receiver.become({ mode: 'listening' })
    base.receiver.target = { mode: 'fixed', arp: home, acc_m: 0.01 }
    const rig = await setUp(t, { receiver: base, plugins })
    await rig.seconds(5)
    t.equal(rig.station.field('base.state.base'), 'ready')
    base.observes = false
    await rig.seconds(4)
    t.equal(rig.station.field('base.state.base'), 'degraded', 'its 1005 alone makes no base')
  })

  await t.test('is stopping once a restart or a shutdown was asked for, unless the machine refuses', async (t) => {
    const refuse = () => {
      throw new Error('not permitted')
    }
    for (const code of ['reboot', 'shutdown']) {
      const station = await createTestStation({ plugins, machine: new SimulatedMachine(refuse, refuse) })
      t.teardown(() => station.stop())
      await station.station.command(code, { source: 'console' })
      await station.clock.advance(100)
      t.equal(station.field('base.state.base'), 'stopping')
      await station.clock.advance(200)
      t.match(station.field('base.state'), { base: 'starting', errors: [{ code, text: /not permitted/ }] })
    }
  })

  await t.test('is not switched off over MQTT: nobody there could switch it on again', async (t) => {
    const station = await createTestStation({ plugins, machine: new SimulatedMachine(t.fail, t.fail) })
    t.teardown(() => station.stop())
    t.match(await station.station.command('shutdown', { source: 'mqtt' }), { status: 503, text: /not over MQTT/ })
    await station.clock.advance(1_000)
    t.not(station.field('base.state.base'), 'stopping')
  })
})

const good: Facts = {
  base: 'ready',
  isSending: true,
  errors: [],
  status: 'fixed',
  antenna: 'ok',
  interfered: false,
  spoofed: false,
  slips_percent: 0.2,
  satellitesUsed: 24,
  isListening: false,
  isJudged: true,
  reference: { method: 'survey', acc_m: 1.2, isComplete: true },
  outputs: 1,
  failed: [],
  linkFailure: '',
}

t.test('W10: the outputs that failed, in the words of a person', (t) => {
  const texts = textFiles(join(packageRoot(), 'plugins', 'device', 'verdict')).find(({ language }) => language === 'de')
  const { find } = speakerOf(JSON.parse(texts?.content ?? '{}'), (english) => english)
  const caster = { name: 'ntrip-server 127.0.0.1:23900/ROOF1', reason: '127.0.0.1 refuses connections' }
  const tcp = { name: 'rtcm-tcp 192.0.2.1:5000', reason: 'timeout' }
  const radio = { name: 'my-radio', reason: '' }
  for (const [failed, english, german] of [
    [
      [caster],
      'no corrections reach the caster 127.0.0.1:23900/ROOF1: 127.0.0.1 refuses connections',
      'Keine Korrekturen erreichen den Caster 127.0.0.1:23900/ROOF1: 127.0.0.1 refuses connections',
    ],
    [
      [caster, tcp, radio],
      'no corrections reach the caster 127.0.0.1:23900/ROOF1 and 2 more: 127.0.0.1 refuses connections',
      'Keine Korrekturen erreichen den Caster 127.0.0.1:23900/ROOF1 und 2 weitere: 127.0.0.1 refuses connections',
    ],
    [
      [tcp],
      'no corrections reach the TCP address 192.0.2.1:5000: timeout',
      'Keine Korrekturen erreichen die TCP-Adresse 192.0.2.1:5000: timeout',
    ],
    [[radio], 'no corrections reach the output my-radio', 'Keine Korrekturen erreichen den Ausgang my-radio'],
  ] as const) {
    const { why, why_code, values } = judge({ ...good, failed })
    t.equal(why, english)
    t.equal(find(`reason.${why_code}`, values), german)
  }
  t.end()
})

t.test('the verdict', async (t) => {
  const silent = { isSending: false, base: 'degraded' } as const
  const blind = { antenna: 'open', satellitesUsed: 0 } as const
  const error = (code: string, severity: Severity = 'degrades') => ({
    errors: [{ code, why: `${code} happened`, advice: 'mend it; or not', severity }],
  })
  const contradiction = (effect: 'notes' | 'degrades') => ({
    ...{ effect, text: 'the announced position is 0.100 m too far east', advice: 'check it' },
    ...{ cause: 'unexplained', values: { size_m: 0.1 } },
  })
  /** Code of the rule → what makes it fire, how bad it is. */
  const cases: Record<string, [Partial<Facts>, Fitness]> = {
    stopping: [{ base: 'stopping' }, 'unfit'],
    receiver: [{ ...silent, status: undefined }, 'unfit'],
    offline: [{ ...silent, base: 'starting', status: 'offline', ...blind }, 'unfit'],
    stalled: [{ ...silent, status: 'stalled', ...blind }, 'unfit'],
    antenna: [{ ...silent, ...blind }, 'unfit'],
    moved: [{ ...silent, status: 'moved', ...error('gnss-moved') }, 'unfit'],
    surveying: [{ ...silent, base: 'surveying', status: 'survey' }, 'unfit'],
    starting: [{ ...silent, base: 'starting', status: 'acquire' }, 'unfit'],
    silent: [{ ...silent, status: 'fault', ...error('gnss-fault', 'silences') }, 'unfit'],
    'antenna-line': [{ antenna: 'short' }, 'degraded'],
    spoofing: [{ spoofed: true }, 'degraded'],
    jamming: [{ interfered: true }, 'degraded'],
    unwatched: [error('gnss-unwatched'), 'degraded'],
    unverified: [{ isListening: true }, 'degraded'],
    reference: [error('gnss-reference-doubtful', 'doubts'), 'degraded'],
    incomplete: [{ reference: { method: 'survey', acc_m: 1.2, isComplete: false } }, 'degraded'],
    coarse: [{ reference: { method: 'survey', acc_m: 12, isComplete: true } }, 'degraded'],
    neighbours: [{ neighbours: contradiction('degrades') }, 'degraded'],
    'override-far': [
      { reference: { ...good.reference, override: { t: 1, by: 'http', distance_m: 5 } } as never },
      'degraded',
    ],
    slips: [{ slips_percent: 30 }, 'degraded'],
    satellites: [{ satellitesUsed: 5 }, 'degraded'],
    updating: [{ base: 'updating' }, 'degraded'],
    link: [{ linkFailure: 'dns' }, 'degraded'],
    output: [{ failed: [{ name: 'ntrip-server a:2101/B', reason: 'bad password' }] }, 'degraded'],
    error: [error('mqtt-cert'), 'degraded'],
    override: [{ reference: { ...good.reference, override: { t: 1, by: 'http', distance_m: 0.59 } } as never }, 'fit'],
    'neighbours-note': [{ neighbours: contradiction('notes') }, 'fit'],
  }
  t.match(judge(good), { fitness: 'fit', code: 'ok', advice: '' })
  t.same(judge(good).values, { method: 'survey', accuracy_m: 1.2 }, 'fit says how well the position is known')
  t.match(judge({ ...good, ...cases.coarse?.[0] }), {
    why_code: 'coarse',
    values: { accuracy_m: 12, method: 'survey' },
  })
  t.match(judge({ ...good, ...cases.satellites?.[0] }), { why_code: 'satellites', values: { satellites: 5 } })
  t.match(judge({ ...good, neighbours: { ...contradiction('degrades'), cause: 'new' } }), {
    why_code: 'neighbours-unexplained',
  })
  t.match(judge({ ...good, ...cases.output?.[0] }), {
    values: { kind: 'the caster', output: 'a:2101/B', reason: 'bad password' },
  })
  t.match(judge({ ...good, ...error('mqtt-refused') }), { fitness: 'fit' }, 'a mistyped request is no fault')
  t.match(judge({ ...good, ...cases.moved?.[0] }), { code: 'moved', why_code: 'gnss-moved' }, 'the words of an error')
  t.match(judge({ ...good, linkFailure: 'config' }), { fitness: 'fit' }, 'a link that nobody set up is not missed')
  const reasons: string[] = []
  for (const [code, [facts, fitness]] of Object.entries(cases)) {
    const found = judge({ ...good, ...facts })
    t.match(found, { code, fitness, why: /^\S.{8}/, advice: /^\S/ }, `${code}: ${found.why}; ${found.advice}`)
    // Errors are in the words of their plugins.
    if (!/happened$/.test(found.why)) reasons.push(`reason.${found.why_code}`)
  }
  for (const status of ['identify', 'configure', 'acquire', 'initial', 'fixed']) {
    const { why, why_code } = judge({ ...good, ...silent, base: 'starting', status })
    t.notMatch(why, /\(/, 'no name of a state')
    reasons.push(`reason.${why_code}`)
  }
  for (const asked of ['survey', 'confirmed', 'reference'] as const) {
    const found = judge({ ...good, ...silent, base: 'starting', status: 'configure', asked })
    t.match(found, { code: 'starting', why_code: `starting-${asked}`, why: /^(a|the|another) / }, found.why)
    reasons.push(`reason.${found.why_code}`)
  }
  // Reasons in English are in the code.
  const files = textFiles(join(packageRoot(), 'plugins', 'device', 'verdict')).filter(
    ({ language }) => language !== 'en',
  )
  for (const { language, content } of files)
    for (const key of reasons.flatMap((reason) => [reason, `${reason}.advice`]))
      t.type(JSON.parse(content)[key], 'string', `${key} in ${language}`)
  t.strictSame(
    Object.keys(cases),
    rules.map(([code]) => code),
    'every rule fires',
  )
  t.match(
    judge({ ...good, ...silent, base: 'starting', status: undefined }),
    { code: 'starting', why: 'the station starts' },
    'no plugin has a receiver yet',
  )
  t.match(judge({ ...good, ...cases.moved?.[0] }), { why: 'gnss-moved happened', advice: 'mend it; or not' })
  t.match(
    judge({ ...good, ...silent, status: 'fault', ...error('gnss-reference-doubtful', 'doubts') }),
    { code: 'silent', why: 'no RTCM goes out' },
    'an error with which RTCM keeps going out is not why there is none',
  )
  const spoofed: Facts = { ...good, spoofed: true, ...error('gnss-spoofed') }
  t.match(judge(spoofed), { fitness: 'degraded', code: 'spoofing' })
  const stalled = { code: 'base-degraded', why: 'no RTCM goes out: the receiver is stalled', advice: 'wait' }
  const why = [...spoofed.errors, { ...stalled, severity: 'degrades' as const }]
  t.match(judge({ ...spoofed, ...silent, errors: why }), { code: 'silent', why: /receiver is stalled/ })
  t.match(
    judge({ ...spoofed, ...silent, ...error('gnss-spoofed', 'silences') }),
    { fitness: 'unfit', code: 'silent', why: 'gnss-spoofed happened' },
    'spoofed signals that hold RTCM back',
  )
  t.match(judge({ ...good, ...cases.error?.[0], ...cases.antenna?.[0] }), { code: 'antenna' }, 'the worst decides')

  for (const [facts, code] of [
    [{ slips_percent: 10 }, 'ok'],
    [{ slips_percent: 10.1 }, 'slips'],
    [{ satellitesUsed: 8 }, 'ok'],
    [{ satellitesUsed: 7 }, 'satellites'],
    [{ reference: { ...good.reference, acc_m: 5 } }, 'ok'],
    [{ reference: { ...good.reference, acc_m: 5.1 } }, 'coarse'],
    [{ ...silent, antenna: 'open', satellitesUsed: 3, status: 'fixed' }, 'antenna'],
    [{ ...silent, antenna: 'open', satellitesUsed: 4, status: 'acquire' }, 'starting-or-silent'],
  ] as [Partial<Facts>, string][]) {
    const found = judge({ ...good, ...facts }).code
    if (code === 'starting-or-silent') t.not(found, 'antenna', 'four satellites give a position')
    else t.equal(found, code, JSON.stringify(facts))
  }

  const unknown: Facts = {
    ...good,
    antenna: 'unknown',
    interfered: undefined,
    spoofed: undefined,
    slips_percent: undefined,
    satellitesUsed: undefined,
    reference: { method: 'manual', acc_m: undefined, isComplete: true },
  }
  t.match(judge(unknown), { fitness: 'fit' }, 'what is unknown is no fault')
  t.match(judge({ ...unknown, ...silent, antenna: 'open' }), { code: 'antenna' }, 'but what is known is one')
  t.match(judge({ ...good, outputs: 0 }), { fitness: 'fit', why: /no client is connected/ })
  t.match(
    judge({ ...good, isJudged: false }),
    { code: 'unverified', advice: /survey-in/ },
    'the word of the receiver alone',
  )
  for (const [code, facts] of Object.entries<Partial<Facts>>({
    surveying: { status: 'survey' },
    offline: { status: 'offline' },
    antenna: { status: 'acquire', ...blind },
    silent: { status: 'acquire' },
  })) {
    const found = judge({ ...good, ...facts, isSending: false, base: 'updating' })
    t.match(found, { fitness: 'unfit', code }, 'an update hides nothing')
  }
  const split: Facts = { ...good, antenna: 'open', isSending: false }
  t.match(judge({ ...split, base: 'surveying', status: 'survey' }), { code: 'surveying' }, 'behind a splitter')
  t.match(judge({ ...split, base: 'degraded', status: 'moved' }), { code: 'moved' })
  const waits: Facts = { ...good, isSending: false, base: 'starting', status: 'initial' }
  t.match(judge({ ...waits, ...error('gnss-initial') }), { code: 'starting', why: 'gnss-initial happened' })
  t.match(
    judge({ ...waits, base: 'surveying', status: 'survey', ...error('gnss-survey') }),
    { code: 'surveying', why: 'gnss-survey happened' },
    'one that gets no position',
  )

  const link: Link = {
    name: 'ntrip-server a:2101/B',
    peer: 'a:2101',
    state: 'refused',
    local: false,
    since_ms: 0,
    reason: 'bad password',
    attempts: 1,
    step: 'reconnect',
    family: 0,
    next_ms: 0,
  }
  t.match(failedOutputs([{ ...link, state: 'up' }, link], 61_000), [{ reason: 'bad password' }])
  const others: Partial<Link>[] = [{ since_ms: 1_001 }, { state: 'idle' }, { carries: 'control' }, { carries: 'in' }]
  t.strictSame(
    others.map((more) => failedOutputs([{ ...link, ...more }], 61_000)),
    [[], [], [], []],
  )

  await t.test('is in the document and the metrics, since it is so', async (t) => {
    const rig = await simulator(t, { plugins: { ...plugins, 'http-api': httpApi as unknown as Definition } })
    const verdict = () => rig.station.field('base.state.verdict') as { fitness: string; since: number } | undefined
    t.match(verdict(), { fitness: 'unfit', code: 'starting' })
    await rig.until(() => verdict()?.fitness === 'fit', 300)
    const since = verdict()?.since ?? 0
    t.ok(since > 0)
    await rig.seconds(10)
    t.match(verdict(), { fitness: 'fit', since })
    const figures = async () => (await rig.station.request('/metrics')).text
    t.match(await figures(), 'rtk_base_fitness{fitness="fit"} 1')
    for (const figure of [
      /^rtk_base_gnss_satellites_used [1-4]\d$/m,
      /^rtk_base_gnss_cno_dbhz\{band="L1"\} [345]\d/m,
      /^rtk_base_gnss_cno_dbhz\{band="L2"\} [345]\d/m,
      /^rtk_base_gnss_interference_ratio\{band="L2"\} 0(\.\d+)?$/m,
      /^rtk_base_antenna_faulty 0$/m,
      /^rtk_base_antenna_reference_distance_meters \d/m,
    ])
      t.match(await figures(), figure)
    rig.simulated.antenna('open')
    const took_s = await rig.until(() => verdict()?.fitness === 'unfit', 60)
    t.match(verdict(), { code: 'antenna', why: /open/, advice: /cable/ })
    const later_s = (verdict()?.since ?? 0) - since
    t.ok(Math.abs(later_s - 10 - took_s) <= 2, `the new one began ${later_s} s after the first`)
    t.match(await figures(), /^rtk_base_antenna_faulty 1$/m)
    rig.simulated.unplug()
    await rig.seconds(10)
    t.match(verdict(), { code: 'offline' }, 'what it said last of its antenna is no cause of now')
    t.notMatch(await figures(), /^rtk_base_(gnss_|antenna_(faulty|reference))\w+ /m, 'no figure is made up')
  })

  await t.test('what flickers counts when it lasts', (t) => {
    const few = new Steady((used: number) => used < 8, 30_000, 60_000)
    const see = (...seen: [now_s: number, used: number][]) => seen.map(([now_s, used]) => few.see(used, now_s * 1000))
    t.strictSame(see([0, 5], [1, 9], [61, 9]), [5, 5, 9], 'without a good one before it at once')
    t.strictSame(see([62, 7], [63, 9], [64, 7], [93, 6]), [9, 9, 9, 9], 'a satellite that comes and goes')
    t.strictSame(see([94, 6], [95, 8], [153, 8], [154, 8]), [6, 6, 6, 8])
    t.strictSame(see([300, 7], [320, 8], [330, 7], [350, 8]), [8, 8, 8, 8], 'again and again, but never for 30 s')
    t.strictSame(see([360, 7], [370, 7]), [8, 7], 'does count')
    t.strictSame(see([371, 9], [435, 9], [440, 7], [445, 9]), [7, 9, 9, 9], 'what is over begins anew')
    t.end()
  })

  await t.test('a change that no event tells of is in the document within 2 s, and readers are told', async (t) => {
    const received = { antenna: 'ok', jamming: 'ok', spoofing: 'none', satellitesUsed: 20 }
    let told = 0
    const reader = definePlugin({
      name: 'reader',
      version: '1.0.0',
      api: '^1.0.0',
      needs: [verdictService],
      provides: [reception],
      setup: ({ services }) => services.provide(reception, received as unknown as Reception),
      start({ on, services }) {
        on(services.use(verdictService).onChange, () => void told++)
      },
    })
    const station = await createTestStation({ plugins: { ...plugins, reader: reader as unknown as Definition } })
    t.teardown(() => station.stop())
    const code = () => (station.field('base.state.verdict') as { code: string }).code
    await station.clock.advance(10_000)
    t.equal(code(), 'starting')
    const before = told
    await station.clock.advance(10_000)
    t.equal(told, before, 'nothing changes')
    Object.assign(received, { antenna: 'open', satellitesUsed: 0 })
    await station.clock.advance(2_100)
    t.equal(code(), 'antenna')
    t.ok(told > before)
  })

  await t.test('a station without a clock learns since when, when it learns the time', async (t) => {
    const station = await createTestStation({ plugins, clock: new ManualClock(Date.UTC(2000, 0)) })
    t.teardown(() => station.stop())
    const since = () => (station.field('base.state.verdict') as { since: number }).since
    await station.clock.advance(4_000)
    t.equal(since(), 0)
    const utc_s = Date.UTC(2026, 10, 22) / 1000
    for (let second = 0; second <= 20; second++) {
      station.device.setUtc((utc_s + second) * 1000)
      await station.clock.advance(1_000)
    }
    t.ok(Math.abs(since() - (utc_s - 4)) <= 1, `${since() - utc_s} s`)
  })
})
