import { readFileSync } from 'node:fs'
import { decodeGga, distance, ecefToGeodetic, type Gga, geodeticToEcef } from 'rtk-base/gnss'
import {
  basicLogin,
  filterLines,
  HeadReader,
  type NtripRequest,
  parseRequest,
  type StreamRow,
  streamLine,
  tableText,
} from 'rtk-base/ntrip'
import type { Connection, HandedOver, Listener, PluginContext } from 'rtk-base/plugin'
import { device, localNetwork, rtcmStream } from 'rtk-base/services'
import type { Static } from 'typebox'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { Mount, type Rover } from './mount.js'
import type { CasterOptions } from './options.js'
import { errorReply, streamHead, tableReply } from './replies.js'
import { Pacing, type Users } from './users.js'

/** A request that is not complete by then is none. */
const head_ms = 10_000
/** Unsent bytes after which a rover is let go: half a minute of a full stream. */
const backlog_bytes = 131_072
/** A line of NMEA has 82 characters. */
const longestLine = 256
const mostShown = 32

/** What the next version of the plugin gets with a rover's connection. */
const Handed = Type.Object({
  mount: Type.String(),
  user: Type.String(),
  agent: Type.String(),
  version: Type.Union([Type.Literal(1), Type.Literal(2)]),
  chunked: Type.Boolean(),
  since: Type.Number(),
  frames: Type.Number(),
})

/** Rovers connect to the station itself. */
export class Caster {
  readonly #ctx: PluginContext
  readonly #options: Static<typeof CasterOptions>
  readonly users: Users
  readonly #anonymous: () => boolean
  readonly #pacing: Pacing
  readonly #mounts = new Map<string, Mount>()
  readonly #rovers = new Map<number, { rover: Rover; mount: Mount }>()
  #listeners: Listener[] = []
  #nextId = 1
  refused = 0

  constructor(ctx: PluginContext, options: Static<typeof CasterOptions>, users: Users, anonymous: () => boolean) {
    this.#ctx = ctx
    this.#options = options
    this.users = users
    this.#anonymous = anonymous
    this.#pacing = new Pacing(() => ctx.clock.monotonic())
  }

  /** @param listening false: nobody can connect until `move` */
  start(port: number, listening: boolean): void {
    const { services, serial } = this.#ctx
    const stream = services.use(rtcmStream)
    const given = this.#options.mounts.length > 0 ? this.#options.mounts : [{ name: serial }]
    for (const { plainV2: _plain, ...mount } of given) this.#mounts.set(mount.name, new Mount(this.#ctx, stream, mount))
    // One subscription for all rovers: what goes out is put together once.
    stream.subscribe({
      ...{ via: 'ntrip', name: [...this.#mounts.keys()].join(' '), ip: '', connected: true },
      take: (frame) => {
        for (const mount of this.#mounts.values()) mount.frame(frame)
        return true
      },
    })
    this.#ctx.on(stream.onEpoch, (epoch) => {
      for (const mount of this.#mounts.values()) mount.epoch(epoch)
    })
    this.#ctx.on(stream.onState, () => {
      for (const mount of this.#mounts.values()) mount.reset()
    })
    if (listening) this.open(port)
  }

  get address() {
    return this.#listeners[0]?.address
  }

  get connections(): number {
    return this.#rovers.size
  }

  /** @param port 0: closed, but for a test's station */
  open(port: number): void {
    const { host, maxClients, maxPerAddress, tls } = this.#options
    const limits = { maxConnections: maxClients, maxPerAddress, maxBuffered_bytes: backlog_bytes, handover: true }
    const serve = (connection: Connection, handed: HandedOver | undefined) => this.#serve(connection, handed)
    this.#listeners = [this.#ctx.net.listen({ name: 'rovers', host, port, ...limits }, serve)]
    if (!tls) return
    const certificate = () => ({ cert: readFileSync(tls.cert, 'utf8'), key: readFileSync(tls.key, 'utf8') })
    this.#listeners.push(
      this.#ctx.net.listen({ name: 'rovers-tls', host, port: tls.port, tls: certificate, ...limits }, serve),
    )
  }

  close(): void {
    for (const listener of this.#listeners) listener.close()
    this.#listeners = []
  }

  async move(port: number): Promise<void> {
    if (this.#listeners.length === 0) this.open(port)
    else await this.#listeners[0]?.move({ port })
  }

  // ── a connection ──────────────────────────────────────────────────────────────────────────────────────────────────

  #serve(connection: Connection, handed: HandedOver | undefined): void {
    if (handed && Value.Check(Handed, handed.state)) {
      const mount = this.#mounts.get(handed.state.mount)
      if (mount) this.#stream(connection, mount, { ...handed.state, primed: false })
      else connection.end()
      return
    }
    const reader = new HeadReader()
    const late = this.#ctx.timers.after(head_ms, () => connection.destroy())
    connection.onClose(() => void late())
    connection.onData((bytes) => {
      const head = reader.push(bytes)
      if (head === undefined) return
      void late()
      // What follows is read by whoever takes the request.
      connection.onData(() => {})
      if (head === 'too-large') return this.#refuse(connection, 400, 'the request is too large', 1)
      const request = parseRequest(head.lines)
      if (!request) return this.#refuse(connection, 400, 'this is an NTRIP caster: ask for / or for a mount point', 1)
      return this.#answer(connection, request, head.rest)
    })
  }

  async #answer(connection: Connection, request: NtripRequest, rest: Buffer): Promise<void> {
    const { method, mount: name, version, headers } = request
    const { remoteAddress } = connection
    const isLocal = this.#ctx.services.use(localNetwork).isLocal(remoteAddress)
    if (!isLocal && !this.#options.world)
      return this.#refuse(connection, 403, 'rovers of the local network only', version)
    if (method === 'SOURCE') return connection.end('ERROR - Mount Point Taken or Invalid\r\n')
    if (method === 'POST') return this.#refuse(connection, 404, 'this caster takes no streams', version)
    if (method !== 'GET') return this.#refuse(connection, 405, 'GET only', version)
    const mount = this.#mounts.get(name)
    if (name === '' || (!mount && version === 1)) return connection.end(this.#table(request))
    if (!mount)
      return this.#refuse(connection, 404, `there is no mount point ${name.slice(0, 64)}: GET / lists them`, version)

    const delay_ms = this.#pacing.delay_ms(remoteAddress)
    if (delay_ms === Number.POSITIVE_INFINITY)
      return this.#refuse(connection, 403, 'too many wrong passwords: wait 10 min', version)
    if (delay_ms > 0) await new Promise<void>((resolve) => void this.#ctx.timers.after(delay_ms, resolve))
    const login = basicLogin(headers)
    const user = await this.users.allows(login, name)
    // On the local network a station without users is open; with users only where `anonymous` says so.
    const isOpen = isLocal && (this.#anonymous() || this.users.count === 0)
    if (!user && !isOpen) {
      if (login) this.#pacing.failed(remoteAddress)
      return this.#refuse(connection, 401, 'user or password is wrong, or not for this mount point', version, name)
    }
    if (user) {
      this.#pacing.succeeded(remoteAddress)
      const same = [...this.#rovers.values()].filter(({ rover }) => rover.user === login?.user).length
      if (same >= user.most)
        return this.#refuse(connection, 503, `${login?.user} has ${same} connections already`, version)
    }
    if (connection.closed) return
    const plain = this.#options.mounts.find((one) => one.name === name)?.plainV2 === true
    const chunked = version === 2 && !plain
    connection.write(streamHead(version, chunked, this.#now_ms()))
    const agent = (headers.get('user-agent') ?? '').replace(/[^\x20-\x7e]/g, '?').slice(0, 64)
    const since = Math.floor(this.#now_ms() / 1000)
    const read = this.#stream(connection, mount, {
      user: user ? (login?.user ?? '') : '',
      agent,
      version,
      chunked,
      since,
      frames: 0,
      primed: false,
    })
    const header = headers.get('ntrip-gga')
    if (header) read(Buffer.from(`${header}\r\n`))
    read(rest)
  }

  /** @returns takes what the rover sends */
  #stream(connection: Connection, mount: Mount, facts: Omit<Rover, 'connection'>): (bytes: Buffer) => void {
    const rover: Rover = { connection, ...facts }
    const id = this.#nextId++
    this.#rovers.set(id, { rover, mount })
    mount.add(rover)
    const read = this.#reader(rover)
    connection.onData(read)
    connection.onClose(() => {
      this.#rovers.delete(id)
      mount.rovers.delete(rover)
    })
    connection.handOver(() => {
      const { user, agent, version, chunked, since, frames } = rover
      return { mount: mount.name, user, agent, version, chunked, since, frames }
    })
    this.#ctx.log.info(
      { rover: id, mount: mount.name, address: connection.remoteAddress, agent: rover.agent },
      'a rover connected',
    )
    return read
  }

  /** Reads what a rover sends: GGA is welcome at any time and needed at none. */
  #reader(rover: Rover): (bytes: Buffer) => void {
    let partial = ''
    return (bytes) => {
      const lines = (partial + bytes.toString('latin1')).split(/\r?\n/)
      partial = (lines.pop() ?? '').slice(-longestLine)
      const newest = lines.findLast((line) => /^\$..GGA,/.test(line) && line.length <= longestLine && isWhole(line))
      const position = newest === undefined ? undefined : decodeGga(Buffer.from(newest))
      if (position) rover.gga = { position, at_ms: this.#ctx.clock.monotonic(), distance_m: this.#distanceTo(position) }
    }
  }

  #distanceTo({ lat, lon, altMsl_m = 0, geoidSeparation_m = 0 }: Gga): number | undefined {
    const arp = this.#ctx.services.use(rtcmStream).station?.arp
    if (arp === undefined || lat === undefined || lon === undefined) return undefined
    return distance(arp, geodeticToEcef({ lat, lon, alt: altMsl_m + geoidSeparation_m }))
  }

  #refuse(connection: Connection, status: number, text: string, version: 1 | 2, realm = ''): void {
    this.refused += 1
    this.#ctx.log.debug({ address: connection.remoteAddress, status }, `refused: ${text}`)
    connection.end(errorReply(status, text, version, realm))
  }

  // ── what it offers ────────────────────────────────────────────────────────────────────────────────────────────────

  #now_ms(): number {
    return this.#ctx.services.use(device).utc_ms()
  }

  #table({ version, headers, query }: NtripRequest): string {
    const browser =
      /^(mozilla|curl)/i.test(headers.get('user-agent') ?? '') || /text\/html/.test(headers.get('accept') ?? '')
    const lines = [...this.#mounts.values()].map((mount) => streamLine(this.row(mount)))
    return tableReply(version, browser, tableText(filterLines(lines, query)), this.#now_ms())
  }

  /** As measured: what a mount has not sent in the last minute is not offered. */
  row(mount: Mount): StreamRow {
    const { messages, bitrate } = mount.contents()
    const arp = this.#ctx.services.use(rtcmStream).station?.arp
    const { lat, lon } = arp ? ecefToGeodetic(arp) : { lat: 0, lon: 0 }
    const has = (family: number) => messages.some(({ type }) => Math.floor(type / 10) === family)
    const families: [number, string][] = [
      [107, 'GPS'],
      [108, 'GLO'],
      [109, 'GAL'],
      [110, 'SBAS'],
      [111, 'QZS'],
      [112, 'BDS'],
      [113, 'IRS'],
    ]
    const needsLogin = this.users.count > 0 && !this.#anonymous()
    return {
      mount: mount.name,
      identifier: this.#options.place || this.#ctx.serial,
      // Clients exist that refuse any other 3.x.
      format: 'RTCM 3.2',
      details: messages.map(({ type, interval_s }) => `${type}(${interval_s})`).join(','),
      carrier: 2,
      systems: families
        .filter(([family]) => has(family))
        .map(([, name]) => name)
        .join('+'),
      network: 'NONE',
      country: this.#options.country,
      lat,
      lon,
      nmea: 0,
      solution: 0,
      generator: `rtk-base ${this.#ctx.services.use(device).version}`,
      authentication: needsLogin ? 'B' : 'N',
      bitrate,
      misc: '',
    }
  }

  /** `ntrip.caster` of the document. */
  block(enabled: boolean) {
    const now_ms = this.#ctx.clock.monotonic()
    const rovers = [...this.#rovers].slice(-mostShown).map(([id, { rover, mount }]) => ({
      id,
      mount: mount.name,
      user: rover.user,
      agent: rover.agent,
      ip: rover.connection.remoteAddress,
      since: rover.since,
      lat: rover.gga?.position.lat ?? 0,
      lon: rover.gga?.position.lon ?? 0,
      quality: rover.gga?.position.quality ?? 0,
      dist: Math.round((rover.gga?.distance_m ?? 0) * 10) / 10,
      age: rover.gga ? Math.round((now_ms - rover.gga.at_ms) / 100) / 10 : 0,
    }))
    return {
      enabled,
      port: this.address?.port ?? 0,
      mounts: [...this.#mounts.keys()],
      users: this.users.count,
      connected: this.#rovers.size,
      refused: this.refused,
      rovers,
    }
  }

  /** @returns false: there is no such rover */
  kick(id: number): boolean {
    const found = this.#rovers.get(id)
    found?.rover.connection.destroy()
    return found !== undefined
  }
}

/** Whether the checksum of a sentence is there and right. */
function isWhole(line: string): boolean {
  const star = line.lastIndexOf('*')
  let xor = 0
  for (let at = 1; at < star; at++) xor ^= line.charCodeAt(at)
  return star > 0 && Number.parseInt(line.slice(star + 1, star + 3), 16) === xor
}
