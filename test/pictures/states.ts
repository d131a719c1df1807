/** The states of the page of which pictures are kept: both sizes, both themes, both languages among them. */
import type { Page } from 'playwright-core'
import type { Json, Recording, Situation } from './recording.js'

export const sizes = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 800 } } as const

export interface Picture {
  readonly name: string
  /** Path of the page, below `#/`. */
  readonly page: string
  readonly size: keyof typeof sizes
  readonly theme: 'light' | 'dark'
  readonly language: 'en' | 'de'
  readonly situation: Situation
  /** Laid over the document of the situation. */
  readonly patch?: Json
  /** Answers that differ from the recorded ones. */
  readonly answers?: Json
  readonly isLogin?: boolean
  /** What a person does before the picture is taken. */
  readonly act?: (page: Page) => Promise<void>
}

const verdict = (value: Json) => ({ base: { state: { verdict: value } } })
const noClient = { ntrip: { caster: { rovers: [], connected: 0 } } }
const rover = (id: number, more: Json) => ({
  ...{ id, mount: 'BASE', user: '', agent: 'NTRIP u-center', ip: `192.168.77.${20 + id}`, since: 1_700_000_000 },
  ...{ quality: 4, dist: 1_240, age: 1.2, lat: 52.0091, lon: 4.0081 },
  ...more,
})
const rovers = {
  gnss: {
    rtcm: {
      subscribers: [
        { via: 'ntrip', name: 'tractor', ip: '192.168.77.21', seen: 0 },
        { via: 'ntrip', name: 'excavator', ip: '192.168.77.22', seen: 0 },
        { via: 'udp', name: '192.168.77.30:2102', ip: '192.168.77.30', seen: 4 },
      ],
    },
  },
  ntrip: {
    caster: {
      enabled: 1,
      connected: 3,
      rovers: [
        rover(1, { user: 'tractor' }),
        rover(2, { user: 'excavator', quality: 5, lat: 51.9962, lon: 4.0041 }),
        rover(3, { agent: 'NTRIP SW Maps', quality: 2, lat: 51.9985, lon: 3.9931 }),
      ],
    },
  },
}
const casters = {
  '/ntrip-server': {
    casters: [
      { host: 'rtk2go.com', port: 2101, mount: 'MYBASE', version: 1, enabled: true, set: true },
      { host: 'servers.onocoy.com', port: 2101, mount: 'BASE7', user: 'base7', version: 2, enabled: true, set: true },
    ],
  },
}
const trial = { base: { state: { trial: { left_s: 240, parameters: ['wap-ssid', 'wap-pswd'] } } } }
const override = verdict({
  fitness: 'fit',
  code: 'override',
  why: 'RTCM is sent from a position that a person confirmed: the antenna seemed to be 0.42 m away',
  advice: 'if exact positions matter, start a survey-in or enter the position',
  why_code: 'override',
  values: { distance_m: 0.42 },
})
const coarse = verdict({
  fitness: 'degraded',
  code: 'coarse',
  why: 'the surveyed position is only accurate to 2.4 m: all rover positions are off by as much',
  advice: 'survey with corrections or for longer, or enter the position',
  why_code: 'coarse',
  values: { accuracy_m: 2.4, method: 'survey' },
})
const isNew = { gnss: { ref: { chosen: '', survey: { type: '' }, manual: { type: '' } } } }

type Row = [string, string, Picture['size'], Picture['theme'], Picture['language'], Situation, Partial<Picture>?]
const rows: Row[] = [
  ['fit-phone', 'status', 'phone', 'light', 'en', 'fixed'],
  ['fit-phone-dark', 'status', 'phone', 'dark', 'de', 'fixed', { patch: rovers }],
  ['fit-desk', 'status', 'desk', 'light', 'de', 'fixed', { patch: rovers }],
  ['fit-desk-dark', 'status', 'desk', 'dark', 'en', 'fixed'],
  ['degraded', 'status', 'phone', 'light', 'de', 'fixed', { patch: coarse }],
  ['override', 'status', 'phone', 'dark', 'en', 'fixed', { patch: override }],
  ['moved', 'errors', 'phone', 'light', 'de', 'moved'],
  ['moved-desk', 'status', 'desk', 'dark', 'en', 'moved'],
  ['no-receiver', 'status', 'phone', 'dark', 'de', 'offline'],
  ['first-survey', 'survey', 'phone', 'light', 'en', 'survey'],
  ['first-survey-desk', 'survey', 'desk', 'dark', 'de', 'survey'],
  ['guide', 'guide', 'phone', 'light', 'de', 'survey', { patch: { ...isNew, ...noClient } }],
  ['guide-desk', 'guide', 'desk', 'dark', 'en', 'fixed'],
  ['login', 'status', 'phone', 'light', 'de', 'fixed', { isLogin: true }],
  ['login-desk', 'status', 'desk', 'dark', 'en', 'fixed', { isLogin: true }],
  ['outputs', 'links', 'desk', 'light', 'en', 'fixed', { answers: casters }],
  ['outputs-phone', 'links', 'phone', 'dark', 'de', 'fixed', { answers: casters }],
  ['rovers', 'rovers', 'desk', 'dark', 'de', 'fixed', { patch: rovers }],
  ['rovers-none', 'rovers', 'phone', 'light', 'en', 'fixed', { patch: noClient }],
  ['no-errors', 'errors', 'desk', 'light', 'de', 'fixed'],
  ['timeline', 'timeline', 'desk', 'light', 'de', 'fixed'],
  ['wifi', 'network', 'phone', 'dark', 'en', 'fixed'],
  ['update', 'update', 'phone', 'light', 'de', 'fixed', { patch: trial }],
  ['settings', 'settings', 'desk', 'light', 'en', 'fixed'],
  ['settings-phone', 'settings', 'phone', 'dark', 'de', 'fixed'],
  ['positions', 'positions', 'desk', 'light', 'de', 'fixed', { act: toMap }],
  ['sky', 'sky', 'phone', 'dark', 'en', 'fixed'],
]

async function toMap(page: Page): Promise<void> {
  await page.locator('.reference-history').scrollIntoViewIfNeeded()
}

export const pictures: readonly Picture[] = rows.map(([name, page, size, theme, language, situation, more]) => ({
  ...{ name, page, size, theme, language, situation },
  ...more,
}))

/** Objects are laid into each other; everything else replaces. */
function laidOver(below: unknown, above: unknown): unknown {
  const isObject = (value: unknown): value is Json =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject(above)) return above
  const under = isObject(below) ? below : {}
  return {
    ...under,
    ...Object.fromEntries(Object.entries(above).map(([name, value]) => [name, laidOver(under[name], value)])),
  }
}

/** Run in the page before its own code: a clock that stands, the same chance every time, and an event stream that tells the recording. */
export function pageScript({ documents, events, at_ms }: Recording, picture: Picture): string {
  const document = laidOver(documents[picture.situation], picture.patch ?? {})
  const { hello, satellites, curve } = events
  const isSurvey = picture.situation === 'survey'
  const told = [
    ['hello', hello],
    ['texts', 'of the station'],
    ['curve', isSurvey ? curve : []],
    ['document', document],
    ['satellites', picture.situation === 'offline' ? [] : satellites],
    ['panels', []],
  ]
  return `{
    const RealDate = Date
    globalThis.Date = class extends RealDate {
      constructor(...given) { given.length === 0 ? super(${at_ms}) : super(...given) }
      static now() { return ${at_ms} }
    }
    Math.random = () => 0.5
    crypto.getRandomValues = (array) => array.fill(7)
    const told = ${JSON.stringify(told)}
    globalThis.EventSource = class extends EventTarget {
      static CLOSED = 2
      readyState = 1
      onerror = null
      constructor() {
        super()
        setTimeout(() => this.begin())
      }
      begin() {
        if (${picture.isLogin === true}) {
          this.readyState = 2
          this.onerror?.(new Event('error'))
          return
        }
        for (const [name, value] of told) this.say(name, value)
        const document = told.find(([name]) => name === 'document')
        this.every = setInterval(() => this.say(...document), 1_000)
      }
      say(name, value) { this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(value) })) }
      close() { clearInterval(this.every) }
    }
  }`
}
