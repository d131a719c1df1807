import { CertificateFiles } from 'rtk-base/files'
import { WrongTries } from 'rtk-base/link'
import {
  basicLogin,
  catchUp,
  feed,
  filterLines,
  HeadReader,
  type NtripRequest,
  parseRequest,
  spelledLike,
  tableText,
} from 'rtk-base/ntrip'
import type { Connection, Dispose, Inherited, Listener, PluginContext } from 'rtk-base/plugin'
import type { NtripCasterInfo } from 'rtk-base/schemas'
import { device, localNetwork, type MountLogin, type RtcmStream, rtcmStream } from 'rtk-base/services'
import type { Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { ForeignMount, InheritedBase } from './foreign.js'
import type { Logins } from './logins.js'
import { type MountPoint, OwnMount } from './mount.js'
import type { CasterOptions } from './options.js'
import { errorReply, streamHead, tableReply } from './replies.js'
import { InheritedRover, Rovers } from './rovers.js'
import { isSourced, SourcedMounts } from './sourced/index.js'
import { reachedAt, tableLines } from './table.js'

/** A request that is not complete by then is none. */
const head_ms = 10_000
/** Wrong logins of an address, each within a minute of the one before, from which on answers are late, then none are checked. */
const lateFrom = 5
const refusedFrom = 20
const late_ms = 2_000
const wrongKept_ms = 60_000
const refused_ms = 600_000
const certificateLook_ms = 60_000
/** Until the clock is known, it is asked for this often. */
const clockLook_ms = 300_000
/** A service that is reloaded is back by then. Without any service the port is given up. */
const absence_ms = 20_000
/** Unsent bytes after which a rover is disconnected: half a minute of a full stream. */
const backlog_bytes = 131_072

export interface CasterSecrets {
  users: Logins
  /** Passwords of foreign bases, by mountpoint. */
  bases: Logins
  /** Rovers of the local network need no login although there are users. */
  anonymous(): boolean
}

const inheritedChecks = () => ({ rover: Compile(InheritedRover), base: Compile(InheritedBase) })

/** Rovers connect to the station itself; foreign bases push to mountpoints of their own. */
export class Caster {
  readonly #ctx: PluginContext
  readonly #options: Static<typeof CasterOptions>
  readonly #secrets: CasterSecrets
  readonly #wrong: WrongTries
  readonly #own = new Map<string, OwnMount>()
  readonly #foreign = new Map<string, ForeignMount>()
  readonly #sourced: SourcedMounts
  readonly rovers: Rovers
  #stream: RtcmStream | undefined
  /** The port that it is to listen on; undefined: none. */
  #wanted: number | undefined
  #absence: Dispose = () => {}
  /** Compiled at the first of them: a reload brings thousands at once, and holds the epoch up meanwhile. */
  #inherited: ReturnType<typeof inheritedChecks> | undefined
  #listeners: Listener[] = []
  #looking: Dispose = () => {}
  #refused = 0
  /** Something (NTP, PTP) keeps the system clock. */
  #isClockKept = false

  constructor(ctx: PluginContext, options: Static<typeof CasterOptions>, secrets: CasterSecrets) {
    this.#ctx = ctx
    this.#options = options
    this.#secrets = secrets
    this.#wrong = new WrongTries(
      () => ctx.clock.monotonic(),
      (count) => (count < refusedFrom ? wrongKept_ms : refused_ms),
    )
    this.rovers = new Rovers(ctx)
    this.#sourced = new SourcedMounts(ctx, (user) => this.rovers.endUser(user, true))
  }

  /** @param listening false: no client can connect until `move` */
  start(port: number, listening: boolean): void {
    this.#wanted = listening ? port : undefined
    this.#sourced.start(() => this.#servicesChanged())
    this.#ctx.services.watch(rtcmStream, (stream) => {
      const end = stream && this.#useStream(stream)
      this.#stream = stream
      this.#servicesChanged()
      return end
    })
    this.basesChanged()
    void this.#lookAtClock()
  }

  /** Mountpoints over the station's own stream. A stream that replaces another one takes over its rovers. */
  #useStream(stream: RtcmStream): Dispose {
    const { serial } = this.#ctx
    const given = this.#options.mounts.length > 0 ? this.#options.mounts : [{ name: serial }]
    this.#own.clear()
    for (const { plainV2: _plain, ...mount } of given) this.#own.set(mount.name, new OwnMount(this.#ctx, stream, mount))
    const distributors = [...this.#own.values()].map(({ distributor }) => distributor)
    catchUp(stream, distributors)
    const end = feed(this.#ctx, stream, () => distributors)
    this.rovers.ownChanged(this.#own)
    return end
  }

  /** Without anything to offer, it does not listen. */
  #servicesChanged(): void {
    void this.#absence()
    const isOffering = this.#stream !== undefined || this.#sourced.source !== undefined
    if (isOffering && this.#wanted !== undefined && this.#listeners.length === 0) this.#listen(this.#wanted)
    const isMissing = (!this.#stream && this.#own.size > 0) || (!this.#sourced.source && this.#sourced.size > 0)
    if (!isMissing && (isOffering || this.#listeners.length === 0)) return
    this.#absence = this.#ctx.timers.after(absence_ms, () => {
      if (!this.#stream) {
        this.rovers.endOwn()
        this.#own.clear()
      }
      if (!this.#sourced.source) this.#sourced.close()
      if (!isOffering) this.#shut()
    })
  }

  get address() {
    return this.#listeners[0]?.address
  }

  /** Whether this is a mountpoint of the station's own stream. */
  isOwn(name: string): boolean {
    return alike(this.#own, name) !== undefined
  }

  /** The name of a mountpoint as it is written itself. */
  spelt(name: string): string {
    return this.#mount(name)?.name ?? name
  }

  /** The current mountpoints. */
  get mountNames(): string[] {
    return [...this.#own.keys(), ...this.#foreign.keys()]
  }

  /** Applies a new password: a base that uses another one is disconnected. */
  basePasswordChanged(mount: string): void {
    this.#foreign.get(mount)?.release('its password was changed')
    this.basesChanged()
  }

  /** Mountpoints of foreign bases come and go with their passwords. */
  basesChanged(): void {
    const { bases } = this.#secrets
    for (const [name, mount] of this.#foreign) {
      if (bases.has(name)) continue
      mount.close()
      this.#foreign.delete(name)
    }
    for (const { name } of bases.list()) {
      if (!this.#foreign.has(name) && !this.isOwn(name)) this.#foreign.set(name, new ForeignMount(this.#ctx, name))
    }
  }

  /** @param port 0: a free one, for the station of a test */
  #listen(port: number): void {
    const { host, maxClients, maxPerAddress, tls } = this.#options
    const limits = { maxConnections: maxClients, maxPerAddress, maxBuffered_bytes: backlog_bytes, inherits: true }
    const serve = (connection: Connection, inherited: Inherited | undefined) => this.#serve(connection, inherited)
    this.#listeners = [
      this.#ctx.net.listen({ name: 'rovers', host, port, setting: 'ntrip-caster-port', ...limits }, serve),
    ]
    if (!tls) return
    const files = new CertificateFiles(tls)
    const secure = this.#ctx.net.listen(
      {
        name: 'rovers-tls',
        host,
        port: tls.port,
        setting: 'ntrip-caster.tls.port',
        tls: () => files.read(),
        ...limits,
      },
      serve,
    )
    this.#listeners.push(secure)
    void this.#looking()
    this.#looking = this.#ctx.timers.every(certificateLook_ms, () => this.#lookAtCertificate(files, secure))
  }

  #lookAtCertificate(files: CertificateFiles, secure: Listener): void {
    const { errors, services, log } = this.#ctx
    const trouble = files.look(services.use(device).utc_ms(), () => {
      secure.renew()
      log.info('the certificate for rovers was renewed: connections from now on get the new one')
    })
    errors.while('ntrip-caster-certificate', trouble)
  }

  close(): void {
    this.#wanted = undefined
    this.#shut()
  }

  #shut(): void {
    void this.#looking()
    for (const listener of this.#listeners) listener.close()
    this.#listeners = []
  }

  async move(port: number): Promise<void> {
    this.#wanted = port
    if (this.#listeners.length === 0) this.#servicesChanged()
    else await this.#listeners[0]?.move({ port })
  }

  // ── a connection ──────────────────────────────────────────────────────────────────────────────────────────────────

  #serve(connection: Connection, inherited: Inherited | undefined): void {
    if (inherited) {
      this.#goOn(connection, inherited.state)
      return
    }
    const reader = new HeadReader()
    const late = this.#ctx.timers.after(head_ms, () => connection.destroy())
    connection.onClose(() => void late())
    connection.onData((bytes) => {
      const head = reader.push(bytes)
      if (head === undefined) return
      void late()
      // Later data waits for the handler of the request; data after a refused request is dropped.
      connection.onData(() => {})
      connection.pause()
      if (head === 'too-large') return this.#refuse(connection, 400, 'the request is too large', 1)
      const request = parseRequest(head.lines)
      if (!request) return this.#refuse(connection, 400, 'this is an NTRIP caster: ask for / or for a mountpoint', 1)
      return this.#answer(connection, request, head.rest)
    })
  }

  /** A connection that the version of the plugin before gave away. */
  #goOn(connection: Connection, state: unknown): void {
    this.#inherited ??= inheritedChecks()
    const rover = this.#inherited.rover.Check(state) ? state : undefined
    const base = !rover && this.#inherited.base.Check(state) ? state : undefined
    const foreign = base && this.#foreign.get(base.base)
    const mount = rover && this.#mount(rover.mount)
    if (base && foreign && !foreign.offered) foreign.goOn(connection, base)
    else if (rover && mount) this.#keepRover(connection, mount, rover)
    else connection.end()
  }

  #keepRover(connection: Connection, mount: MountPoint, inherited: Static<typeof InheritedRover>): void {
    const { known, gga, mount: _mount, ...facts } = inherited
    const left = this.#left(mount, facts.user)
    this.rovers.add(connection, mount, facts, { ...(known && { known }), ...(gga && { gga }), ...left })
  }

  #mount(name: string): MountPoint | undefined {
    return alike(new Map<string, MountPoint>([...this.#foreign, ...this.#own]), name) ?? this.#sourced.find(name)
  }

  async #answer(connection: Connection, request: NtripRequest, rest: Buffer): Promise<void> {
    const { method, version } = request
    const isLocal = this.#ctx.services.use(localNetwork).isLocal(connection.remoteAddress)
    if (!isLocal && !this.#options.world)
      return this.#refuse(connection, 403, 'for the local network only', version, method)
    if (method === 'SOURCE' || method === 'POST') return this.#answerBase(connection, request, rest)
    if (method !== 'GET') return this.#refuse(connection, 405, 'GET, POST or SOURCE only', version)
    return this.#answerRover(connection, request, rest, isLocal)
  }

  async #answerRover(connection: Connection, request: NtripRequest, rest: Buffer, isLocal: boolean): Promise<void> {
    const { mount: asked, version, headers } = request
    const mount = this.#mount(asked)
    if (asked === '' || (!mount && version === 1)) return connection.end(this.#table(request, connection, isLocal))
    if (!mount)
      return this.#refuse(connection, 404, `there is no mountpoint ${asked.slice(0, 64)}: GET / lists them`, version)
    // From here on it has its own name, in whatever letters the rover asked for it.
    const { name } = mount
    const login = basicLogin(headers)
    const isOfSource = isSourced(mount)
    const user = await (isOfSource
      ? this.#checkSourced(login, name, connection)
      : this.#check(this.#secrets.users, login, name, connection))
    if (user === 'unasked') return this.#refuse(connection, 403, tooMany, version)
    if (user === 'unavailable') return this.#refuse(connection, 503, 'logins cannot be checked now: try again', version)
    if (!user && !(isLocal && this.#isOpen(isOfSource))) {
      if (login) this.#wrong.add(connection.remoteAddress)
      return this.#refuse(connection, 401, 'user or password is wrong, or not for this mountpoint', version, '', name)
    }
    if (user && login) {
      const elsewhere = isOfSource ? ((await this.#sourced.source?.elsewhere(login.user)) ?? 0) : 0
      // After the wait: others may have logged in meanwhile.
      const all = this.rovers.ofUser(login.user, isOfSource) + elsewhere
      if (all >= user.most && !(await this.rovers.displace(login.user, isOfSource)))
        return this.#refuse(connection, 503, `${login.user} has ${all} connections already`, version)
    }
    if (connection.closed) return
    const plain = this.#options.mounts.find((one) => one.name === name)?.plainV2 === true
    const chunked = version === 2 && !plain
    connection.write(streamHead(version, chunked, this.#date_ms))
    const facts = { user: user && login ? login.user : '', version, chunked, ...this.#facts(request) }
    const sourced = isOfSource ? { isSourced: true } : {}
    const read = this.rovers.add(connection, mount, { ...facts, ...sourced }, this.#left(mount, facts.user))
    const gga = headers.get('ntrip-gga')
    if (gga) read(Buffer.from(`${gga}\r\n`))
    read(rest)
    connection.resume()
  }

  /** On the local network, login is optional without users, or with `anonymous`. */
  #isOpen(isOfSource: boolean): boolean {
    const { users, anonymous } = this.#secrets
    return isOfSource ? this.#sourced.source?.anonymous === true : anonymous() || users.count === 0
  }

  /** The source counts its connections, and a mountpoint without rovers is forgotten. */
  #left(mount: MountPoint, user: string): { left?: () => void } {
    if (!isSourced(mount)) return {}
    const uncount = this.#sourced.source?.connected({ user, mount: mount.name })
    return {
      left: () => {
        uncount?.()
        this.#sourced.left(mount)
      },
    }
  }

  async #answerBase(connection: Connection, request: NtripRequest, rest: Buffer): Promise<void> {
    const { method, mount: asked, version, headers } = request
    const mount = alike(this.#foreign, asked)
    const name = mount?.name ?? asked
    const refuse = (status: number, text: string) =>
      this.#refuse(connection, status, text, version, method, status === 401 ? name : '')
    if (this.isOwn(asked)) return refuse(409, 'this mountpoint is the station’s own')
    if (!mount) return refuse(404, 'no base may push to this mountpoint')
    // NTRIP 1 has no user, and with NTRIP 2 it is the password of the mountpoint that counts.
    const password = request.password ?? basicLogin(headers)?.password ?? ''
    const allowed = await this.#check(this.#secrets.bases, { user: name, password }, name, connection)
    if (allowed === 'unasked') return refuse(403, tooMany)
    if (!allowed) {
      this.#wrong.add(connection.remoteAddress)
      return refuse(401, 'the password is not that of this mountpoint')
    }
    if (connection.closed || this.#foreign.get(name) !== mount) return connection.end()
    if (mount.taken) return refuse(409, 'another base pushes to this mountpoint')
    mount.release('silent: another one takes its place')
    connection.write(streamHead(method === 'SOURCE' ? 1 : 2, false, this.#date_ms))
    const chunked = /chunked/i.test(headers.get('transfer-encoding') ?? '')
    const read = mount.take(connection, { ...this.#facts(request), chunked })
    connection.onData(read)
    read(rest)
    connection.resume()
  }

  /**
   * A recently correct login passes at once: many rovers can share an address, and one of them may have a wrong password. The others wait
   * their turn, the sender of the fewest wrong logins first.
   */
  async #check(logins: Logins, login: ReturnType<typeof basicLogin>, mount: string, connection: Connection) {
    // A login may have been entered before its mountpoint was there.
    const isAsked = (entered: string) => this.spelt(entered) === mount
    const known = logins.knows(login, isAsked)
    if (known) return known
    if (!(await this.#paced(connection))) return 'unasked'
    const { remoteAddress } = connection
    const found = await logins.allows(login, isAsked, {
      // A closed connection must not keep the others waiting.
      isWanted: () => !connection.closed && this.#wrong.count(remoteAddress) < refusedFrom,
      priority: -this.#wrong.count(remoteAddress),
    })
    if (found && found !== 'unasked') this.#wrong.forget(remoteAddress)
    return found
  }

  /** As `#check`, of the logins of the source: many can be asked at a time, as nothing is derived. */
  async #checkSourced(
    login: ReturnType<typeof basicLogin>,
    mount: string,
    connection: Connection,
  ): Promise<MountLogin | 'unasked' | 'unavailable' | undefined> {
    const { source } = this.#sourced
    if (!login || !source) return undefined
    const known = source.known(login.user, login.password, mount)
    if (known) return known
    if (!(await this.#paced(connection))) return 'unasked'
    try {
      const found = await source.login(login.user, login.password, mount)
      if (found) this.#wrong.forget(connection.remoteAddress)
      return found
    } catch (error) {
      this.#ctx.log.debug({ err: error }, 'a login could not be checked')
      return 'unavailable'
    }
  }

  /** Waits where this address sent wrong passwords. @returns false: too many of them */
  async #paced({ remoteAddress }: Connection): Promise<boolean> {
    const count = this.#wrong.count(remoteAddress)
    if (count >= refusedFrom) return false
    if (count >= lateFrom) await new Promise<void>((resolve) => void this.#ctx.timers.after(late_ms, resolve))
    return true
  }

  #facts({ headers }: NtripRequest): { agent: string; since: number } {
    const agent = headers.get('user-agent') ?? headers.get('source-agent') ?? ''
    return { agent: agent.replace(/[^\x20-\x7e]/g, '?').slice(0, 64), since: Math.floor(this.#now_ms() / 1000) }
  }

  #refuse(connection: Connection, status: number, text: string, version: 1 | 2, method = '', realm = ''): void {
    this.#refused += 1
    this.#ctx.log.debug({ address: connection.remoteAddress, status }, `refused: ${text}`)
    connection.end(errorReply(status, text, version, method, realm))
  }

  // ── what it offers ────────────────────────────────────────────────────────────────────────────────────────────────

  #now_ms(): number {
    return this.#ctx.services.use(device).utc_ms()
  }

  /** For `Date`: 0 while the clock may be wrong, which is worse than no date. Without a clock, a boot continues at the time of the last run. */
  get #date_ms(): number {
    const unit = this.#ctx.services.use(device)
    return unit.knowsUtc || this.#isClockKept ? unit.utc_ms() : 0
  }

  async #lookAtClock(): Promise<void> {
    const unit = this.#ctx.services.use(device)
    if (!unit.knowsUtc) this.#isClockKept = await unit.isClockSynchronised().catch(() => false)
    if (unit.knowsUtc || this.#isClockKept) return
    this.#ctx.timers.after(clockLook_ms, () => this.#lookAtClock())
  }

  #table({ version, headers, query }: NtripRequest, { socket }: Connection, isLocal: boolean): string {
    const browser =
      /^(mozilla|curl)/i.test(headers.get('user-agent') ?? '') || /text\/html/.test(headers.get('accept') ?? '')
    const { place, country } = this.#options
    const { users, anonymous } = this.#secrets
    const { serial } = this.#ctx
    const facts = {
      serial,
      ...reachedAt(headers.get('host'), socket),
      place: place || serial,
      country,
      generator: `rtk-base ${this.#ctx.services.use(device).version}`,
      // For this client: some only send their login if the table requires one.
      needsLogin: !isLocal || (users.count > 0 && !anonymous()),
    }
    const mounts: MountPoint[] = [...this.#own.values(), ...this.#foreign.values()]
    const offered = [...mounts.filter((mount) => mount.offered), ...this.#sourced.offered()]
    return tableReply(version, browser, tableText(filterLines(tableLines(offered, facts), query)), this.#date_ms)
  }

  /** `ntrip.caster` of the document. */
  block(enabled: boolean): NtripCasterInfo {
    return {
      enabled,
      port: this.address?.port ?? 0,
      tls: this.#listeners[1]?.address?.port ?? 0,
      mounts: [...this.#own.keys()],
      users: this.#secrets.users.count,
      connected: this.rovers.size,
      refused: this.#refused,
      rovers: this.rovers.block(),
      bases: [...this.#foreign.values()].map((mount) => mount.block()),
    }
  }
}

const alike = <T>(mounts: ReadonlyMap<string, T>, name: string): T | undefined =>
  mounts.get(spelledLike(mounts.keys(), name) ?? '')

const tooMany = 'too many wrong passwords: wait 10 min'
