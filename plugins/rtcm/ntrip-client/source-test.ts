/** Tries a source of corrections once, before or after it is saved. Nothing is stored or corrected. */
import { distance, flowLimit_ms, isMsm, messageNumber, referencePoint } from 'rtk-base/gnss'
import { ggaOf, type Nearest, nearer, type StreamRow, visit, webServer } from 'rtk-base/ntrip'
import type { PluginContext } from 'rtk-base/plugin'
import { device, type Ecef } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import type { Source } from './source.js'

/** A base further away corrects no survey-in, see `survey-in`. */
const far_m = 100_000
/** Some bases send their position every 30 s only: the test does not wait for it so long. */
const shortest_ms = 12_000
/** Longer intervals than this one are not waited for. */
const longest_s = 30
/** GPS and GLONASS before MSM, which RTCM 3.0 casters send. */
const legacy = [1001, 1002, 1003, 1004, 1009, 1010, 1011, 1012]
const isObservation = (type: number): boolean => isMsm(type) || legacy.includes(type)

/** How long observations are waited for: as long as a stream of the interval in the source table may be silent. */
function patience_ms(row: StreamRow | undefined): number {
  const announced = [...(row?.details ?? '').matchAll(/(\d{4})\((\d+(?:\.\d+)?)\)/g)]
  const intervals_s = announced.flatMap(([, type, s]) => (isObservation(Number(type)) ? [Number(s)] : []))
  const interval_s = intervals_s.length === 0 ? 0 : Math.min(longest_s, ...intervals_s)
  return flowLimit_ms(1_000 * interval_s, shortest_ms)
}

const texts = {
  ok: 'observations arrive',
  far: 'observations arrive, but the base is more than 100 km away: it corrects no survey-in',
  unplaced: 'observations arrive, but no position of their base yet',
  silent: 'no observations came from the mountpoint',
  'no-position': 'the nearest mountpoint cannot be found before the receiver has a position',
  'no-stream': 'the source table has no stream of RTCM 3 with a position',
}
/** Why a caster did not answer at all, and why it refused. */
const unreached = ['dns', 'refused', 'certificate', 'not-tls', 'timeout', 'flood', 'network', 'no-answer'] as const
const refusals = ['web', 'login', 'forbidden', 'mount', 'other'] as const
type Code = keyof typeof texts | (typeof unreached)[number] | (typeof refusals)[number]
const isUnreached = (code: Code): boolean => (unreached as readonly string[]).includes(code)

export const SourceTested = Type.Object({
  ok: Type.Boolean({ description: 'Observations arrive. `code` may still warn: far, unplaced' }),
  code: Type.Unsafe<Code>(
    Type.Union(
      [...Object.keys(texts), ...unreached, ...refusals].map((code) => Type.Literal(code)),
      { description: 'The result, for a program' },
    ),
  ),
  text: Type.String({ description: 'The result, as text' }),
  mount: Type.String({ description: 'The mountpoint that was tried, or the nearest one; `""`: none' }),
  distance: Type.Number({ description: 'From here to the base, m; -1: unknown' }),
  messages: Type.Array(Type.Integer(), { description: 'RTCM messages that came, by number' }),
})
export type SourceTested = Static<typeof SourceTested>

/** Takes up to 22 s, with a base of rare observations up to 100 s. @param here for the nearest mountpoint, the distance, and casters that ask for a position */
export async function testSource(ctx: PluginContext, source: Source, here: Ecef | undefined): Promise<SourceTested> {
  const { host, port, tls, version = 2, user, password, gga } = source
  const own = ctx.services.use(device)
  const common = { host, port, tls, version, user, password, agent: `rtk-base/${own.version}` }
  const result = (code: Code, text: string, more: Partial<SourceTested> = {}): SourceTested => {
    const ok = code === 'ok' || code === 'far' || code === 'unplaced'
    return { ok, code, text, mount: source.mount ?? '', distance: -1, messages: [], ...more }
  }
  const known = (code: keyof typeof texts, more?: Partial<SourceTested>) => result(code, texts[code], more)

  let listed: StreamRow | undefined
  let nearest: Nearest | undefined
  const row = (one: StreamRow): boolean => {
    if (source.mount) listed = one.mount === source.mount ? one : listed
    else if (here) nearest = nearer(nearest, one, here)
    return (listed ?? nearest) !== undefined
  }
  if (!source.mount && !here) return known('no-position')
  const table = await visit(ctx, { ...common, mount: '', row })
  // Every caster has a source table: a peer that has a page there, or nothing, is none.
  const isWeb = table.kind === 'failed' && (table.code === 'web' || table.code === 'mount')
  if (isWeb && !source.mount) return result('web', webServer)
  // A caster may keep its table to itself, and still give the stream.
  if (table.kind === 'failed' && (!source.mount || isUnreached(table.code))) return result(table.code, table.text)
  const mount = source.mount || nearest?.row.mount
  if (!mount) return known('no-stream')

  const wantsPosition = gga ?? (listed ?? nearest?.row)?.nmea === 1
  const messages = new Set<number>()
  let arp: Ecef | undefined
  const frame = (bytes: Uint8Array): boolean => {
    messages.add(messageNumber(bytes))
    arp = referencePoint(bytes)?.arp ?? arp
    return arp !== undefined && [...messages].some(isObservation)
  }
  const sent = wantsPosition && here ? ggaOf(here, own.utc_ms()) : undefined
  const stream = await visit(ctx, { ...common, mount, frame, gga: sent, limit_ms: patience_ms(listed ?? nearest?.row) })
  const more = { mount, messages: [...messages].sort((a, b) => a - b) }
  if (stream.kind === 'failed' && isWeb && !isUnreached(stream.code)) return result('web', webServer, more)
  if (stream.kind === 'failed') return result(stream.code, stream.text, more)
  if (![...messages].some(isObservation)) return known('silent', more)
  if (!arp || !here) return known('unplaced', more)
  const distance_m = Math.round(distance(here, arp))
  return known(distance_m > far_m ? 'far' : 'ok', { ...more, distance: distance_m })
}
