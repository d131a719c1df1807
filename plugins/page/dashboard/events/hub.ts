import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { device, type LogLine, logs, pluginTexts, receiver, type SatelliteEpoch, station } from 'rtk-base/services'
import type { SurveyCurve } from '../history/survey-curve.js'
import type { Panels } from '../panels.js'
import { EventClient, type PageEvent } from './event-client.js'

/** The topics of `/events?want=…`. */
export const topics = ['document', 'satellites', 'survey', 'log', 'panels', 'texts'] as const
export type Topic = (typeof topics)[number]

/** Topics of a query; every topic when it names none. @returns undefined when one of them is not known */
export function topicsOf(want: unknown): ReadonlySet<Topic> | undefined {
  if (want === undefined || want === '') return new Set(topics)
  const names = String(want).split(',')
  return names.every((name): name is Topic => (topics as readonly string[]).includes(name)) ? new Set(names) : undefined
}

/** A page that hears nothing for 3 s shows everything grey. */
const beat_ms = 1_000
const mostClients = 16
const mostPerPeer = 4
/** Lines that a page gets when it opens, and how long they are at most: they are kept for as long as the service runs. */
const keptLines = 500
const longestLine = 2_000

export interface Caller {
  readonly address: string
  readonly reader: 'viewer' | 'operator'
  readonly acceptsGzip: boolean
  readonly topics: ReadonlySet<Topic>
}

interface Page extends Caller {
  readonly client: EventClient
}

const textsEvent = (version: string): PageEvent => ({ name: 'texts', data: JSON.stringify(version) })

/** An event for several pages: one object, encoded once. */
interface News {
  readonly document: (reader: Caller['reader']) => PageEvent
  /** Undefined: the same as a second ago. */
  readonly satellites: PageEvent | undefined
  readonly panels: PageEvent | undefined
  /** The version of the plugins' texts. */
  readonly texts: PageEvent | undefined
}

/** Map under the drawings of the pages: '' for none. */
export interface MapServer {
  readonly tiles: string
  readonly attribution: string
}

/** All open pages and their events. An event wanted by several pages is built once. */
export class EventHub {
  readonly #ctx: PluginContext
  readonly #survey: SurveyCurve
  readonly #panels: Panels
  readonly #pages = new Set<Page>()
  #lines: PageEvent[] = []
  /** The last events sent to every page. */
  #told: { epoch?: SatelliteEpoch | undefined; panels: string; texts: string } = { panels: '', texts: '' }
  readonly #map: () => MapServer

  constructor(ctx: PluginContext, survey: SurveyCurve, panels: Panels, map: () => MapServer) {
    this.#ctx = ctx
    this.#map = map
    this.#survey = survey
    this.#panels = panels
  }

  start(): void {
    const { on, services, timers } = this.#ctx
    on(services.use(logs).onLine, (line) => this.#line(line))
    timers.every(beat_ms, () => this.#beat())
  }

  /** @throws RTK_ERR_UNAVAILABLE if too many pages are open */
  open(caller: Caller): EventClient {
    const fromHere = [...this.#pages].filter(({ address }) => address === caller.address).length
    if (fromHere >= mostPerPeer) throw tooMany(`${mostPerPeer} pages of ${caller.address}`)
    if (this.#pages.size >= mostClients) throw tooMany(`${mostClients} pages`)
    const page = { ...caller, client: new EventClient(caller.acceptsGzip) }
    this.#pages.add(page)
    page.client.stream.once('close', () => this.#pages.delete(page))
    const { version, sha256, hardware } = this.#ctx.services.use(device)
    const { serial } = this.#ctx
    page.client.send({
      name: 'hello',
      data: JSON.stringify({ serial, version, sha256, hardware, ...this.#map(), role: caller.reader }),
    })
    if (page.topics.has('log')) for (const line of this.#lines) page.client.send(line)
    if (page.topics.has('survey')) page.client.send(this.#curve())
    const panels = { name: 'panels', data: this.#panels.text }
    this.#tell(page, {
      document: this.#documents(),
      satellites: sky(this.#epoch),
      panels,
      texts: textsEvent(this.#texts),
    })
    return page.client
  }

  /** Pages reconnect automatically. */
  stop(): void {
    for (const { client } of this.#pages) client.end()
  }

  #beat(): void {
    const grown = this.#survey.take()
    if (this.#pages.size === 0) return
    const epoch = this.#epoch
    const panels = this.#panels.text
    const texts = this.#texts
    const news: News = {
      document: this.#documents(),
      satellites: epoch === this.#told.epoch ? undefined : sky(epoch),
      panels: panels === this.#told.panels ? undefined : { name: 'panels', data: panels },
      texts: texts === this.#told.texts ? undefined : textsEvent(texts),
    }
    this.#told = { epoch, panels, texts }
    const growth = grown === 'anew' ? this.#curve() : grown && { name: 'point', data: JSON.stringify(grown) }
    for (const page of this.#pages) {
      this.#tell(page, news)
      if (growth && page.topics.has('survey')) page.client.send(growth)
    }
  }

  get #texts(): string {
    return this.#ctx.services.use(pluginTexts).version
  }

  get #epoch(): SatelliteEpoch | undefined {
    return this.#ctx.services.find(receiver)?.satellites
  }

  #documents(): News['document'] {
    const now = this.#ctx.services.use(station)
    const made: { [reader in Caller['reader']]?: PageEvent } = {}
    return (reader) => {
      made[reader] ??= { name: 'document', data: now.documentText(undefined, reader) }
      return made[reader]
    }
  }

  #curve(): PageEvent {
    return { name: 'curve', data: JSON.stringify(this.#survey.points) }
  }

  #tell({ client, reader, topics }: Page, { document, satellites, panels, texts }: News): void {
    if (topics.has('document')) client.send(document(reader))
    if (topics.has('satellites') && satellites !== undefined) client.send(satellites)
    if (topics.has('panels') && panels !== undefined) client.send(panels)
    if (topics.has('texts') && texts !== undefined) client.send(texts)
  }

  #line({ level, time, plugin = '', msg }: LogLine): void {
    const event = { name: 'log', data: JSON.stringify({ level, time, plugin, msg: lineText(msg) }), isLine: true }
    this.#lines.push(event)
    if (this.#lines.length > keptLines) this.#lines.shift()
    for (const { client, topics } of this.#pages) if (topics.has('log')) client.send(event)
  }
}

/** A plugin logs what it likes: of any type and length. */
function lineText(msg: unknown = ''): string {
  const text = typeof msg === 'string' ? msg : JSON.stringify(msg)
  return text.length > longestLine ? `${text.slice(0, longestLine)}…` : text
}

const tooMany = (what: string) =>
  new RtkError('RTK_ERR_UNAVAILABLE', `${what} are open already: close one, the figures are in GET /get-info too`)

const sky = (epoch: SatelliteEpoch | undefined): PageEvent => ({
  name: 'satellites',
  data: JSON.stringify(epoch ? skyOf(epoch) : []),
})

/** As a page draws it: short names, as it goes out each second. */
const skyOf = ({ satellites }: SatelliteEpoch) =>
  satellites.map(({ constellation, satellite, azimuth_deg, elevation_deg, cno_dbhz, used, signals }) => ({
    sys: constellation,
    id: satellite,
    az: azimuth_deg ?? null,
    el: elevation_deg ?? null,
    cno: cno_dbhz,
    used,
    signals: signals.map(({ signal, cno_dbhz, used }) => ({ name: signal, cno: cno_dbhz, used })),
  }))
