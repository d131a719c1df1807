import { decodeGga, distance, type Gga, geodeticToEcef } from 'rtk-base/gnss'
import type { Connection, PluginContext } from 'rtk-base/plugin'
import type { NtripCasterInfo } from 'rtk-base/schemas'
import { type RtcmSubscription, rtcmStream } from 'rtk-base/services'
import { Type } from 'typebox'
import type { MountLogins } from './logins/mount-logins.js'
import type { Known, MountPoint, Rover } from './mount.js'

/** A line of NMEA has 82 characters. */
const longestLine = 256
/** The document has a largest size. */
const mostShown = 8
const mostText = 24

/** State that the next version inherits with a rover's connection. */
export const InheritedRover = Type.Object({
  mount: Type.String(),
  user: Type.String(),
  agent: Type.String(),
  version: Type.Union([Type.Literal(1), Type.Literal(2)]),
  chunked: Type.Boolean(),
  since: Type.Number(),
  known: Type.Optional(Type.Object({ position: Type.String(), sequence: Type.Number() })),
  /** Newest GGA of the rover: it may send only one. */
  gga: Type.Optional(Type.String({ maxLength: longestLine })),
})

interface Entry {
  readonly rover: Rover
  mount: MountPoint
  listed: Pick<RtcmSubscription, 'close'> | undefined
}

/** The rovers that are connected. */
export class Rovers {
  readonly #ctx: PluginContext
  readonly #all = new Map<number, Entry>()
  /** Connections by login: a login has a limit of its own. */
  readonly #byUser = new Map<MountLogins, Map<string, number>>()
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

  /** Connections of a login. */
  ofUser(user: string, logins: MountLogins): number {
    return this.#byUser.get(logins)?.get(user) ?? 0
  }

  #count(user: string, logins: MountLogins, step: number): void {
    if (user === '') return
    const users = this.#byUser.get(logins) ?? new Map<string, number>()
    this.#byUser.set(logins, users)
    const connections = (users.get(user) ?? 0) + step
    if (connections > 0) users.set(user, connections)
    else users.delete(user)
  }

  /** Connects a rover to a mountpoint. @returns consumer of the rover's data */
  add(
    connection: Connection,
    mount: MountPoint,
    facts: Omit<Rover, 'connection' | 'primed' | 'gga'>,
    { known: before, gga = '' }: { known?: Known; gga?: string } = {},
  ): (bytes: Buffer) => void {
    const { log } = this.#ctx
    const rover: Rover = { connection, ...facts, primed: false }
    const { user, agent, version, chunked, since } = rover
    const { logins } = mount
    const id = this.#nextId++
    const ip = connection.remoteAddress
    const entry: Entry = { rover, mount, listed: undefined }
    entry.listed = this.#list(entry)
    this.#all.set(id, entry)
    this.#count(user, logins, 1)
    const left = mount.joined?.(user)
    mount.add(rover, before)
    const sentence = { newest: '' }
    const read = this.#reader(entry, sentence)
    if (gga) read(Buffer.from(`${gga}\r\n`))
    connection.onData(read)
    connection.onClose(() => {
      this.#all.delete(id)
      entry.listed?.close()
      entry.mount.delete(rover)
      this.#count(user, logins, -1)
      left?.()
    })
    connection.inheritable(() => {
      const known = rover.primed ? entry.mount.known : undefined
      const gga = sentence.newest
      const facts = { mount: entry.mount.name, user, agent, version, chunked, since }
      return { ...facts, ...(known && { known }), ...(gga && { gga }) }
    })
    log.debug({ rover: id, mount: mount.name, address: ip, agent }, 'a rover connected')
    return read
  }

  /** Shown beside those of the other outputs; not where it takes another base's stream. */
  #list({ rover, mount }: Entry): Entry['listed'] {
    if (!mount.isOwn) return undefined
    const { user, agent, connection } = rover
    const name = (user || agent).slice(0, 32)
    const stream = this.#ctx.services.find(rtcmStream)
    return stream?.list({ via: 'ntrip', name, ip: connection.remoteAddress, connected: true })
  }

  /** The station's own stream is another one. @param mounts its mountpoints; rovers of others are disconnected */
  ownChanged(mounts: ReadonlyMap<string, MountPoint>): void {
    for (const entry of this.#all.values()) {
      if (!entry.mount.isOwn) continue
      const mount = mounts.get(entry.mount.name)
      if (!mount) {
        entry.rover.connection.destroy()
        continue
      }
      entry.mount = mount
      entry.listed = this.#list(entry)
      mount.add(entry.rover)
    }
  }

  /** There is no own stream any more. */
  endOwn(): void {
    for (const { rover, mount } of this.#all.values()) if (mount.isOwn) rover.connection.destroy()
  }

  /**
   * A rover whose line was cut reconnects while its old connection still counts as open, for minutes. One connection of this login that
   * has left bytes unacknowledged for 10 s is closed. @returns false: all of them are alive
   */
  async displace(user: string, logins: MountLogins): Promise<boolean> {
    for (const { connection } of this.#of(user, logins)) {
      if (!(await connection.isCut()) || connection.closed) continue
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
  endUser(user: string, logins: MountLogins): number {
    const closed = this.#of(user, logins)
    for (const { connection } of closed) connection.destroy()
    return closed.length
  }

  #of(user: string, logins: MountLogins): Rover[] {
    const entries = [...this.#all.values()].filter(({ rover, mount }) => rover.user === user && mount.logins === logins)
    return entries.map(({ rover }) => rover)
  }

  /** @returns false: unknown rover */
  kick(id: number): boolean {
    const entry = this.#all.get(id)
    entry?.rover.connection.destroy()
    return entry !== undefined
  }

  /** Every rover, a line each, newest last. */
  list(): string[] {
    return [...this.#all].map(([id, { rover, mount }]) => {
      const { user, agent, connection, gga } = rover
      const distance = gga?.distance_m === undefined ? '' : `, ${(gga.distance_m / 1_000).toFixed(1)} km away`
      const name = [user, agent].filter(Boolean).join(' ') || 'unnamed'
      const base = mount.baseOf ? ` (${mount.baseOf(rover) || 'no base'})` : ''
      return `${id}: ${name} at ${connection.remoteAddress}, ${mount.name}${base}${mount.unverified ? ' (unverified)' : ''}${distance}`
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
  #reader(entry: Entry, sentence: { newest: string }): (bytes: Buffer) => void {
    let partial = ''
    const { clock } = this.#ctx
    return (bytes) => {
      const { rover, mount } = entry
      const { connection } = rover
      if (connection.closed) return
      const now_ms = clock.monotonic()
      const lines = (partial + bytes.toString('latin1')).split(lineEnds)
      // A checksum ends a sentence where the line has no end, and so does the last of its fields where it has neither.
      const last = lines.at(-1) ?? ''
      if (/\*[0-9A-F]{2}$/i.test(last)) partial = ''
      else {
        partial = last.slice(-longestLine)
        if (!hasAllFields(last)) lines.pop()
      }
      const newest = lines
        .map((line) => line.trim())
        .findLast((line) => line.length <= longestLine && positionIn(line) !== undefined)
      const position = newest === undefined ? undefined : positionIn(newest)
      if (newest === undefined || !position) return
      sentence.newest = newest
      rover.gga = { position, at_ms: now_ms, distance_m: distanceTo(mount, position) }
      mount.located?.(rover)
    }
  }
}

/** Programs exist that end no sentence: the next one ends it. */
const lineEnds = /[\r\n]+|(?=\$)/
/** The separator before the last field of GGA is there, and no checksum begins: what may follow changes no position. */
const hasAllFields = (line: string) => /^ *\$..GGA(,[^,*]*){14}$/.test(line)

function distanceTo({ arp }: MountPoint, { lat, lon, altMsl_m = 0, geoidSeparation_m = 0 }: Gga): number | undefined {
  if (arp === undefined || lat === undefined || lon === undefined) return undefined
  return distance(arp, geodeticToEcef({ lat, lon, alt: altMsl_m + geoidSeparation_m }))
}

/** The GGA of a rover, where it is whole enough for a position: both coordinates with their sides, and the quality. */
function positionIn(line: string): Gga | undefined {
  if (!/^\$..GGA,([^,]*,){5}\d/.test(line) || !isIntact(line)) return undefined
  const gga = decodeGga(Buffer.from(line))
  if (gga?.lat === undefined || gga.lon === undefined) return undefined
  // Some send zeros before they have a position.
  return gga.lat === 0 && gga.lon === 0 ? undefined : gga
}

/** Whether the checksum of a sentence is right. Some rovers send none. */
function isIntact(line: string): boolean {
  const star = line.lastIndexOf('*')
  if (star < 0) return true
  let xor = 0
  for (let at = 1; at < star; at++) xor ^= line.charCodeAt(at)
  return Number.parseInt(line.slice(star + 1, star + 3), 16) === xor
}
