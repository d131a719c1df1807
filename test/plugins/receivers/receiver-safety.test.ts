/** Whatever receiver it is: what it says of its antenna and of the air reaches everyone who judges or records the safety of the base. */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import leds from '../../../plugins/device/leds/index.js'
import record from '../../../plugins/device/record/index.js'
import system from '../../../plugins/device/system/index.js'
import verdict from '../../../plugins/device/verdict/index.js'
import homeAssistant from '../../../plugins/mqtt/home-assistant/index.js'
import httpApi from '../../../plugins/page/http-api/index.js'
import gnss from '../../../plugins/receivers/gnss/index.js'
import type { RecordEntry, RecordMinute } from '../../../schemas/index.js'
import type { AntennaStatus, Jamming, ReceiverReport, Spoofing } from '../../../schemas/services.js'
import { few } from '../../harness/sample.js'
import { type Definition, setUp } from '../reference/survey-in-rig.js'
import { homeAssistantAt, pageShows } from './surfaces.js'

interface Case {
  readonly what: string
  /** What the receiver says each second; what is left out it never says. Undefined: it is silent. */
  readonly says: { antenna?: AntennaStatus; jamming?: Jamming; spoofing?: Spoofing } | undefined
  readonly verdict: { fitness: string; code: string }
  /** Codes in `base.state.errors`. */
  readonly errors: readonly string[]
  /** Seconds that the red LED is lit and dark. */
  readonly red: readonly number[]
  readonly selfTest: readonly RegExp[]
  /** As the record has it: what stands, and the minute. */
  readonly recorded: Record<string, object | undefined>
  readonly minute: Partial<RecordMinute>
  readonly metrics: readonly RegExp[]
  readonly noMetric?: RegExp
  /** What Home Assistant shows of its entities. */
  readonly home: Readonly<Record<string, string | RegExp>>
  /** What the page shows beside the verdict. */
  readonly page: object
}

const well = { antenna: 'ok', jamming: 'ok', spoofing: 'none' } as const
const off = [1]
const warns = [0.1, 2.9]
const faulty = (value: 0 | 1) => new RegExp(`^rtk_base_antenna_faulty ${value}$`, 'm')
const fitness = (name: string) => new RegExp(`^rtk_base_fitness\\{fitness="${name}"\\} 1$`, 'm')

/** What Home Assistant shows of a base whose receiver speaks. */
const entities = (fitness: string, why: RegExp, problem: string, antenna: string) => ({
  ...{ fitness, why, problem, antenna },
  satellites: '20',
  status: 'fixed',
})
/** What the page shows of a base whose receiver speaks. */
const page = (state: string, facts: string[], more: { guide?: string[]; pages?: string[] } = {}) => ({
  antenna: [state, ...facts],
  receiver: 'good',
  firstBroken: undefined,
  guide: [],
  pages: ['sky'],
  ...more,
})

const cases: readonly Case[] = [
  {
    what: 'unknown: it does not say, which is no fault and not ok',
    says: {},
    verdict: { fitness: 'fit', code: 'ok' },
    errors: [],
    red: off,
    selfTest: [/^SKIP antenna: unknown/m, /^SKIP interference: jamming unknown, spoofing unknown/m],
    recorded: { antenna: { status: 'unknown' }, air: undefined },
    minute: { jam: 'unknown' },
    metrics: [fitness('fit')],
    noMetric: /^rtk_base_antenna_faulty \d/m,
    home: entities('fit', /at its reference/, 'OFF', 'None'),
    page: page('unknown', ['unknown', '20 sat'], { pages: [] }),
  },
  {
    what: 'all is well',
    says: well,
    verdict: { fitness: 'fit', code: 'ok' },
    errors: [],
    red: off,
    selfTest: [/^PASS receiver: FAKE/m, /^PASS receiver-data/m, /^PASS antenna: ok/m, /^PASS interference/m],
    recorded: { antenna: { status: 'ok' }, air: { jammed: false, spoofed: false } },
    minute: { jam: 'ok', epochs: 60 },
    metrics: [fitness('fit'), faulty(0)],
    home: entities('fit', /at its reference/, 'OFF', 'OFF'),
    page: page('good', ['ok', '20 sat'], { pages: [] }),
  },
  {
    what: 'jammed',
    says: { ...well, jamming: 'critical' },
    verdict: { fitness: 'degraded', code: 'jamming' },
    errors: ['gnss-jammed'],
    red: warns,
    selfTest: [/^FAIL interference: jamming critical/m],
    recorded: { air: { jammed: true, spoofed: false } },
    minute: { jam: 'critical' },
    metrics: [fitness('degraded'), /^rtk_base_gnss_interference_ratio\{band="L1"\} 0\.78/m],
    home: entities('degraded', /interferes/, 'ON', 'OFF'),
    page: page('warning', ['ok', '20 sat', 'critical']),
  },
  {
    what: 'spoofed',
    says: { ...well, spoofing: 'indicated' },
    verdict: { fitness: 'degraded', code: 'spoofing' },
    errors: ['gnss-spoofed'],
    red: warns,
    selfTest: [/^FAIL interference: jamming ok, spoofing indicated/m],
    recorded: { air: { jammed: false, spoofed: true } },
    minute: { jam: 'ok' },
    metrics: [fitness('degraded')],
    home: entities('degraded', /satellite signals/, 'ON', 'OFF'),
    page: page('warning', ['ok', '20 sat', 'spoofing indicated']),
  },
  ...(['open', 'short'] as const).map((antenna) => ({
    what: `antenna ${antenna}`,
    says: { ...well, antenna },
    verdict: { fitness: 'degraded', code: 'antenna-line' },
    errors: [`antenna-${antenna}`],
    red: warns,
    selfTest: [new RegExp(`^FAIL antenna: ${antenna}`, 'm')],
    recorded: { antenna: { status: antenna } },
    minute: { epochs: 60 },
    metrics: [fitness('degraded'), faulty(1)],
    home: entities('degraded', new RegExp(antenna), 'ON', 'ON'),
    // Behind a splitter that blocks DC a line looks open, and the antenna works: the guide lets that pass.
    page: page('warning', [antenna, '20 sat'], { guide: antenna === 'short' ? ['antennaShort'] : [] }),
  })),
  {
    what: 'silent',
    says: undefined,
    verdict: { fitness: 'unfit', code: 'stalled' },
    errors: ['gnss-link'],
    red: [1],
    selfTest: [/^FAIL receiver-data: 0 in/m, /^SKIP antenna: unknown/m, /^SKIP satellites: unknown/m],
    recorded: { antenna: { status: 'unknown' }, receiver: { link: 'stalled', mode: 'fixed', fix: 'none' } },
    minute: { epochs: 0, used: 0, pos: [], jam: 'unknown' },
    metrics: [fitness('unfit')],
    noMetric: /^rtk_base_(antenna_faulty|gnss_satellites_used|gnss_interference_ratio\S*) \d/m,
    home: {
      ...{ fitness: 'unfit', why: /is silent/, problem: 'ON', status: 'stalled' },
      ...{ antenna: 'None', satellites: 'None', delta: 'None' },
    },
    page: {
      antenna: ['unknown'],
      receiver: 'broken',
      firstBroken: 'receiver',
      guide: ['receiver'],
      pages: ['procedure'],
    },
  },
]

t.test('what a receiver of any make says reaches whoever decides by it', async (t) => {
  const definition = (plugin: unknown) => plugin as Definition
  const rig = await setUp(t, {
    plugins: {
      verdict: definition(verdict),
      system: definition(system),
      gnss: definition(gnss),
      leds: [definition(leds), { folder: 'simulator' }],
      record: definition(record),
      'http-api': definition(httpApi),
      'home-assistant': [definition(homeAssistant), { interval_s: 5 }],
    },
  })
  const { station, clock, base } = rig
  const { receiver } = base
  const home = homeAssistantAt(rig.bus())
  receiver.become({
    can: {
      ownSurvey: false,
      fixedPosition: 'ecef',
      settings: 'volatile',
      restarts: false,
      stationId: false,
      antennaDescriptor: false,
      reports: new Set<ReceiverReport>(['antenna', 'interference', 'spoofing']),
      rawObservations: [],
      intervals_s: [1],
    },
  })
  let says: Case['says'] = {}
  const seconds = async (count: number) => {
    for (let second = 0; second < count; second++) {
      if (says) base.epoch()
      const { antenna, jamming, spoofing } = says ?? {}
      if (antenna) receiver.antenna(antenna)
      if (jamming) receiver.interference(jamming)
      if (spoofing) receiver.spoofing(spoofing)
      await clock.advance(1_000)
    }
  }
  const verdictNow = () => station.field('base.state.verdict') as Case['verdict']
  const codes = () => (station.field('base.state.errors') as { code: string }[]).map(({ code }) => code)
  const until = async (expected: Case['verdict']) => {
    for (let second = 0; second < 300; second++) {
      const { fitness, code } = verdictNow()
      if (fitness === expected.fitness && code === expected.code) return
      await seconds(1)
    }
  }
  const selfTest = async () => {
    let text = ''
    void rig.command('start-hardware-test').then((answer) => {
      text = answer.text
    })
    while (text === '') {
      await sleep(2)
      await seconds(1)
    }
    return text
  }
  /** The end of the record: what stands, and the last minute. */
  const recorded = async () => {
    const entries = (await station.request('/record')).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RecordEntry)
    const stands: Record<string, object | null> = {}
    for (const { all, set } of entries) Object.assign(stands, all, set)
    return { stands, minute: entries.findLast(({ min }) => min)?.min }
  }

  for (const { what, says: saying, ...expected } of few(3, cases)) {
    says = saying
    if (!says) receiver.become({ link: 'stalled', fix: undefined })
    await until(expected.verdict)
    // The whole of a minute, whenever it began.
    await seconds(121)
    t.match(verdictNow(), { ...expected.verdict, advice: expected.verdict.code === 'ok' ? /^$/ : /\w/ }, what)
    t.strictSame(codes(), expected.errors, `${what}: the document`)
    const red = station.field('base.leds.red.pattern') as { t: number; v: number }[]
    t.strictSame(
      red.map(({ t: lit_s }) => lit_s),
      expected.red,
      `${what}: the red LED`,
    )
    t.equal(red[0]?.v !== 0, expected.verdict.code !== 'ok', `${what}: the red LED is lit`)
    const { text: metrics } = await station.request('/metrics')
    for (const pattern of expected.metrics) t.match(metrics, pattern, `${what}: the metrics`)
    if (expected.noMetric) t.notMatch(metrics, expected.noMetric, `${what}: nothing is made up`)
    t.match(home.shows(), expected.home, `${what}: Home Assistant`)
    const { fitness: shownFitness, code: shownCode, ...page } = pageShows(station.station.document())
    t.strictSame({ fitness: shownFitness, code: shownCode }, expected.verdict, `${what}: the verdict of the page`)
    t.strictSame(page, expected.page, `${what}: the page`)
    const { stands, minute } = await recorded()
    for (const [key, value] of Object.entries(expected.recorded))
      t.strictSame(stands[key] ?? undefined, value, `${what}: the record of ${key}`)
    t.match(minute, expected.minute, `${what}: its minute`)
    const report = await selfTest()
    for (const pattern of expected.selfTest) t.match(report, pattern, `${what}: the self-test`)
  }
})
