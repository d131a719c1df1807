/**
 * Run in a network of its own: from the guide to an exact position by a (fake) PPP service, with a finger on a phone; then another report,
 * and the table of antennas. The archive has a day already.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Archive } from '../../../plugins/reference/raw/archive.js'
import { gpsOf } from '../../../plugins/reference/raw/span.js'
import { encodeMsm, geodeticToEcef } from '../../../runtime/lib/gnss/index.js'
import { block, bytesOf, choke, header } from '../../gnss/support/antex-writer.js'
import { ManualClock, until } from '../manual-clock.js'
import { fakeCsrs, sum, zipOf } from '../peers/fake-csrs.js'
import { startStation, withSimulatedReceiver } from '../process.js'
import { address, compare, startBrowser, textWith } from './browser-rig.js'
import { Player } from './tasks/player.js'

const [shots = ''] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'rtk-base-exact-'))
const at = (name: string) => join(folder, name)
const ends: (() => unknown)[] = []

const roof = geodeticToEcef({ lat: 52, lon: 4, alt: 50 })
const reportOf = (dz_m: number, day: number) => sum({ ...roof, z: roof.z + dz_m }, 'IGb20', `26:${day}:43200`, 0)
const fake = await fakeCsrs({ teardown: (end: () => unknown) => void ends.push(end) } as never)
fake.file = zipOf({ 'roof.sum': Buffer.from(reportOf(0, 329)) })
writeFileSync(at('next.sum'), reportOf(0.5, 330))
writeFileSync(at('some.atx'), bytesOf([...header(), ...block(choke), ...block({ ...choke, model: 'LEIAR25.R4' })]))
writeFileSync(at('page.atx'), '<html>Not found</html>')
await recordDay(join(at('data'), 'files', 'raw', 'main'))

/** A day of observations every 30 s, to now. */
async function recordDay(path: string): Promise<void> {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const archive = new Archive({
    path: async () => path,
    bounds: { size_bytes: 1e9, free_bytes: 0, days: 30 },
    clock: new ManualClock(),
    onTrouble: () => {},
  })
  const last_ms = Math.floor(Date.now() / 30_000) * 30_000 - 60_000
  const observation = { satellite: 5, signal: 2, pseudorange_m: 2.1e7, phase_m: 2.1e7, cnr_dbhz: 40, lock: 600 }
  for (let utc_ms = last_ms - 86_400_000; utc_ms < last_ms; utc_ms += 30_000) {
    const epochTime = Math.round(gpsOf(utc_ms) * 1_000) % 604_800_000
    const head = { type: 1077, stationId: 1, epochTime, multiple: false }
    archive.append(encodeMsm({ ...head, observations: [observation] }), utc_ms)
    await archive.flush()
  }
  await archive.close()
}

const station = await startStation(
  [
    withSimulatedReceiver('zed-f9p', folder),
    ...['--set', `http.host=${address}`, '--set', `ppp.url=${fake.url}`, '--set', 'integrity.initial_s=5'],
    ...['--set', 'simulated-receiver.boot=rover', '--change', 'ntrip-caster-port=0', '--change', 'raw-en=1'],
    ...['--change', 'gnss-survey-mintime=15', '--change', 'gnss-survey-accuracy=5'],
    ...['--change', 'gnss-antenna-descriptor=TRM57971.00     NONE'],
  ],
  { data: at('data') },
)
const browser = await startBrowser()
const player = await Player.start(browser, 'finger', station, shots)
const { button, field, hands, more, page, tap, yes } = player
const says: Player['says'] = (...of) => player.says(...of)
type Manual = { acc: number; frame: string }
const manual = async () =>
  (await station.info<{ gnss: { ref: { chosen: string; manual: Manual } } }>()).gnss.ref as {
    chosen: string
    manual: Manual
  }
/** To put the finger into a field, or onto a list, is a tap. */
const fill = async (name: string, text: string) => {
  hands.taps += 1
  await hands.enter(field(name), text)
}
const choose = async (name: string, value: string) => {
  hands.taps += 1
  await field(name).first().selectOption(value)
}
await player.is('fixed')

// The page of positions loads its cards one after the other, and the link leads to one of the last.
await page.goto(`${station.url}/#/status`)
await page.locator('.verdict').getByRole('link', { name: 'Make it exact' }).click()
const exact = page.getByRole('heading', { name: 'Exact position by PPP' })
await exact.waitFor()
await page.waitForTimeout(1_000)
const place_px = (await exact.boundingBox())?.y ?? -1
compare('W4: the link of the verdict leads to the card', place_px >= 0 && place_px < 400 ? true : place_px, true)

await player.task(
  'the position is made exact',
  6,
  async () => {
    await says('the guide says that it is known to metres', 'main dd', /^1 of 3/)
    await tap(page.locator('main').getByRole('link', { name: 'Make it exact' }))
    await fill('Account (e-mail address)', 'me@example.org')
    await choose('Frame of the announced position', 'ETRF2000')
    await tap(button('Save and determine the position'))
    await says('the page says that it is at it', 'main', /The data is being|The service is computing/)
    const result = await textWith(page, 'main section', /^Result of/)
    compare('the result is in the chosen frame', /ETRF2000 2026\.9/.test(result) || result, true)
    await tap(button('Use as reference'))
    await tap(yes(/^Yes/))
    await until(async () => (await manual()).chosen === 'manual', 'the new reference')
  },
  'guide?step=position',
)
const submitted = fake.requests.find(({ url }) => url.startsWith('/submit'))?.body.toString('latin1') ?? ''
compare(
  'the file is RINEX of the archive',
  /filename="\w+_MO\.rnx\.gz"/.test(submitted) || submitted.slice(0, 500),
  true,
)
const { acc, frame } = (await manual()).manual
compare('the frame of the form is announced', frame, 'ETRF2000')
compare('the accuracy is that of the result', acc > 0.02 && acc < 0.1 ? true : acc, true)
await player.is('fixed')
await page.goto(`${station.url}/#/guide?step=position`)
await says('the guide says that it is known to centimetres', 'main dd', /^3 of 3/)
compare('and offers nothing more', await page.getByRole('link', { name: 'Make it exact' }).count(), 0)

await player.task(
  'a report is imported, doubted, and not used',
  4,
  async () => {
    await tap(more('Import a report'))
    // The dialog of the telephone for files is a tap.
    hands.taps += 1
    await field('File').setInputFiles(at('next.sum'))
    compare('no curve of one result', await page.getByText('Motion of the point').count(), 0)
    await tap(button('Import'))
    await says('the doubt is shown', 'main section', /The accuracies do not explain the distance/)
    await says('the series is shown', 'main figcaption', /Motion of the point/)
    await tap(button('Use as reference'))
    await says('the question names the doubt', 'dialog', /only if you know the reason/)
    await yes('Cancel').click()
  },
  'positions?exact',
)

await player.task(
  'the table of antennas is uploaded, and proposes antennas and the height of a phase centre',
  7,
  async () => {
    await tap(more('Recording and antenna'))
    await says('there is none', 'main', /There is no table/)
    hands.taps += 1
    await field('ANTEX file (.atx)').setInputFiles(at('page.atx'))
    await tap(button('Upload'))
    await says('a page is refused', 'main .trouble', /it is not ANTEX/)
    await field('ANTEX file (.atx)').setInputFiles(at('some.atx'))
    await tap(button('Upload'))
    await says('the table is there', 'main', /some\.atx: 2 antennas/)
    await says('it has the antenna', 'main', /TRM57971\.00\s+NONE is in the table/)
    await fill('Antenna: IGS name', 'leiar')
    const option = page.locator('main datalist option')
    await option.first().waitFor({ state: 'attached' })
    compare('the codes', await option.evaluateAll((all) => all.map((one) => (one as { value?: string }).value)), [
      'LEIAR25.R4      NONE',
    ])
    await tap(page.getByRole('radio', { name: 'the phase centre' }))
    await tap(button(/^Take 0\.0667 m/))
    compare('it is entered', await field('Phase centre above the reference point, m').inputValue(), '0.0667')
  },
  'positions',
)
player.quiet(/400 \(Bad Request\)/)

await browser.close()
await station.end()
for (const end of ends.reverse()) await end()
rmSync(folder, { recursive: true, force: true })
