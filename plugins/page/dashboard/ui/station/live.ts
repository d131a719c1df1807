/** The live part: what the station says each second. */
import { batch, computed, signal } from '@preact/signals'
import { EventStream } from '../../../../../runtime/lib/page/ui/event-stream.js'
import { isReadOnly, session, sessions } from '../../../../../runtime/lib/page/ui/http.js'
import { type Json, verdictOf } from '../../../../../runtime/lib/page/ui/station/document.js'
import type { CurvePoint, Hello, LogLine, PanelEntry, SkySatellite } from './messages.js'

export type { CurvePoint, Hello, LogLine, Point, SkySatellite, SkySignal } from './messages.js'

/** After so long without a word everything shown is old. */
const silence_ms = 3_000
const mostLines = 1_000

export const hello = signal<Hello | undefined>(undefined)
export const document$ = signal<Json | undefined>(undefined)
export const satellites = signal<readonly SkySatellite[]>([])
export const curve = signal<readonly CurvePoint[]>([])
export const logLines = signal<readonly LogLine[]>([])
/** Pages of other plugins; undefined until known. */
export const panels = signal<readonly PanelEntry[] | undefined>(undefined)
/** The version of the plugins' texts; undefined until known. */
export const textsVersion = signal<string | undefined>(undefined)
/** Lines that this page was too slow for. */
export const droppedLines = signal(0)
/** When the station was last heard, by `performance.now()`; 0: never. */
const heard_ms = signal(0)
const now_ms = signal(0)
export const silent_s = computed(() =>
  heard_ms.value === 0 ? 0 : Math.max(0, Math.floor((now_ms.value - heard_ms.value) / 1_000)),
)
/** The shown values are current. */
export const inContact = computed(() => heard_ms.value > 0 && now_ms.value - heard_ms.value < silence_ms)
/** The station now runs another version than this page. */
export const isOutdated = signal(false)
export const verdict = computed(() => verdictOf(document$.value))

/** The events of a second come one by one, and are shown together. */
let waiting: (() => void)[] = []
/** Not by the frames of the screen: a page in the background has none. */
const together_ms = 15

function apply(): void {
  const events = waiting
  waiting = []
  // The stream that they came by has ended meanwhile.
  if (events.length === 0) return
  batch(() => {
    heard_ms.value = performance.now()
    now_ms.value = heard_ms.value
    for (const take of events) take()
  })
}

const stream = new EventStream('/events', (source) => {
  waiting = []
  const on = <T>(name: string, take: (value: T) => void) =>
    source.addEventListener(name, ({ data }: MessageEvent<string>) => {
      const value = JSON.parse(data) as T
      waiting.push(() => take(value))
      if (waiting.length === 1) setTimeout(apply, together_ms)
    })
  on<Hello>('hello', (value) => {
    stream.heard()
    isReadOnly.value = value.role === 'viewer'
    void sessions.session().then(
      (found) => {
        session.value = found
      },
      () => {},
    )
    if (hello.value && hello.value.sha256 !== value.sha256) isOutdated.value = true
    hello.value = value
    logLines.value = []
  })
  on<Json>('document', (value) => {
    document$.value = value
  })
  on<SkySatellite[]>('satellites', (value) => {
    satellites.value = value
  })
  on<CurvePoint[]>('curve', (value) => {
    curve.value = value
  })
  on<CurvePoint>('point', (value) => {
    curve.value = [...curve.value, value]
  })
  on<LogLine>('log', (value) => {
    logLines.value = [...logLines.value, value].slice(-mostLines)
  })
  on<PanelEntry[]>('panels', (value) => {
    panels.value = value
  })
  on<string>('texts', (value) => {
    textsVersion.value = value
  })
  on<number>('dropped', (value) => {
    droppedLines.value += value
  })
})

/** Begins to listen; also after a login. */
export const listen = (): void => stream.listen()

export function follow(): void {
  setInterval(() => {
    now_ms.value = performance.now()
  }, 500)
  stream.follow()
}
