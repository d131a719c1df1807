import { decodeGga, distance, type Gga, geodeticToEcef } from 'rtk-base/gnss'
import type { Connection, PluginContext } from 'rtk-base/plugin'
import type { NtripCasterInfo } from 'rtk-base/schemas'
import { type RtcmSubscription, rtcmStream } from 'rtk-base/services'
import { Type } from 'typebox'
import type { Known, MountPoint, Rover } from './mount.js'

/** A line of NMEA has 82 characters. */
const longestLine = 256
/** The document has a largest size. */
const mostShown = 8
const mostText = 24

/** State handed over with a rover's connection. */
export const HandedRover = Type.Object({
  mount: Type.String(),
  user: Type.String(),
  agent: Type.String(),
  version: Type.Union([Type.Literal(1), Type.Literal(2)]),
  chunked: Type.Boolean(),
  since: Type.Number(),
  known: Type.Optional(Type.Object({ position: Type.String(), sequence: Type.Number() })),
})

interface Entry {
  readonly rover: Rover
  readonly mount: MountPoint
  readonly listed: Pick<RtcmSubscription, 'close'> | undefined
}

/** The rovers that are connected. */
export class Rovers {
  readonly #ctx: PluginContext
  readonly #all = new Map<number, Entry>()
  /** Connections by login: a login has a limit of its own. */
  readonly #byUser = new Map<string, number>()
  #nextId = 1

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
    ctx.defer(() => {
      for (const { listed } of this.#all.values()) listed?.close()
    })
  }

  get size(): number {
    return this.#all.size
  }

  ofUser(user: string): number {
    return this.#byUser.get(user) ?? 0
  }

  /** Connects a rover to a mountpoint. @returns consumer of the rover's data */
  add(
    connection: Connection,
    mount: MountPoint,
    facts: Omit<Rover, 'connection' | 'primed'>,
    before?: Known,
  ): (bytes: Buffer) => void {
    const { log, services } = this.#ctx
    const rover: Rover = { connection, ...facts, primed: false }
    const { user, agent, version, chunked, since } = rover
    const id = this.#nextId++
    const ip = connection.remoteAddress
    // Shown beside those of the other outputs; not where it takes another base's stream.
    const listed = mount.unverified
      ? undefined
      : services.use(rtcmStream).list({ via: 'ntrip', name: (user || agent).slice(0, 32), ip, connected: true })
    this.#all.set(id, { rover, mount, listed })
    if (user) this.#byUser.set(user, this.ofUser(user) + 1)
    mount.add(rover, before)
    const read = this.#reader(rover, mount)
    connection.onData(read)
    connection.onClose(() => {
      this.#all.delete(id)
      listed?.close()
      mount.delete(rover)
      const left = this.ofUser(user) - 1
      if (left > 0) this.#byUser.set(user, left)
      else this.#byUser.delete(user)
    })
    connection.handOver(() => {
      const known = rover.primed ? mount.known : undefined
      return { mount: mount.name, user, agent, version, chunked, since, ...(known && { known }) }
    })
    log.debug({ rover: id, mount: mount.name, address: ip, agent }, 'a rover connected')
    return read
  }

  /**
   * A rover whose line was cut reconnects while its old connection still counts as open, for minutes. One connection of this login that
   * has left bytes unacknowledged for 10 s is closed. @returns false: all of them are alive
   */
  async displace(user: string): Promise<boolean> {
    for (const { rover } of this.#all.values()) {
      const { connection } = rover
      if (rover.user !== user || !(await connection.isCut())) continue
      connection.destroy()
      this.#ctx.log.info(
        { address: connection.remoteAddress },
        'a stale connection is closed for the reconnecting rover',
      )
      return true
    }
    return false
  }

  /** Ends the connections of a login. @returns how many there were */
  endUser(user: string): number {
    const found = [...this.#all.values()].filter(({ rover }) => rover.user === user)
    for (const { rover } of found) rover.connection.destroy()
    return found.length
  }

  /** @returns false: unknown rover */
  kick(id: number): boolean {
    const found = this.#all.get(id)
    found?.rover.connection.destroy()
    return found !== undefined
  }

  /** Every rover, a line each, newest last. */
  list(): string[] {
    return [...this.#all].map(([id, { rover, mount }]) => {
      const { user, agent, connection, gga } = rover
      const distance = gga?.distance_m === undefined ? '' : `, ${(gga.distance_m / 1_000).toFixed(1)} km away`
      const name = [user, agent].filter(Boolean).join(' ') || 'unnamed'
      return `${id}: ${name} at ${connection.remoteAddress}, ${mount.name}${mount.unverified ? ' (unverified)' : ''}${distance}`
    })
  }

  /** The newest ones, for the document; `list` has all. */
  block(): NtripCasterInfo['rovers'] {
    const now_ms = this.#ctx.clock.monotonic()
    return [...this.#all].slice(-mostShown).map(([id, { rover, mount }]) => ({
      id,
      mount: mount.name,
      unverified: mount.unverified,
      user: rover.user.slice(0, mostText),
      agent: rover.agent.slice(0, mostText),
      ip: rover.connection.remoteAddress,
      since: rover.since,
      lat: rover.gga?.position.lat ?? 0,
      lon: rover.gga?.position.lon ?? 0,
      quality: rover.gga?.position.quality ?? 0,
      dist: Math.round((rover.gga?.distance_m ?? 0) * 10) / 10,
      age: rover.gga ? Math.round((now_ms - rover.gga.at_ms) / 100) / 10 : 0,
    }))
  }

  /** Reads what a rover sends: GGA is welcome at any time and needed at none. */
  #reader(rover: Rover, mount: MountPoint): (bytes: Buffer) => void {
    let partial = ''
    const { clock } = this.#ctx
    return (bytes) => {
      const { connection } = rover
      if (connection.closed) return
      const now_ms = clock.monotonic()
      const lines = (partial + bytes.toString('latin1')).split(/\r?\n/)
      partial = (lines.pop() ?? '').slice(-longestLine)
      const newest = lines.findLast((line) => /^\$..GGA,/.test(line) && line.length <= longestLine && isWhole(line))
      const position = newest === undefined ? undefined : decodeGga(Buffer.from(newest))
      if (!position) return
      rover.gga = { position, at_ms: now_ms, distance_m: distanceTo(mount, position) }
    }
  }
}

function distanceTo({ arp }: MountPoint, { lat, lon, altMsl_m = 0, geoidSeparation_m = 0 }: Gga): number | undefined {
  if (arp === undefined || lat === undefined || lon === undefined) return undefined
  return distance(arp, geodeticToEcef({ lat, lon, alt: altMsl_m + geoidSeparation_m }))
}

/** Whether the checksum of a sentence is there and right. */
function isWhole(line: string): boolean {
  const star = line.lastIndexOf('*')
  let xor = 0
  for (let at = 1; at < star; at++) xor ^= line.charCodeAt(at)
  return star > 0 && Number.parseInt(line.slice(star + 1, star + 3), 16) === xor
}
