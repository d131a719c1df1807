import { CertificateFiles } from 'rtk-base/files'
import { basicLogin, filterLines, HeadReader, type NtripRequest, parseRequest, tableText } from 'rtk-base/ntrip'
import type { Connection, Dispose, Inherited, Listener, PluginContext } from 'rtk-base/plugin'
import type { NtripCasterInfo } from 'rtk-base/schemas'
import { device, localNetwork } from 'rtk-base/services'
import type { Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { InheritedBase } from './foreign.js'
import { LoginCheck } from './logins/login-check.js'
import { type MountLogins, stationLogins } from './logins/mount-logins.js'
import type { MountPoint } from './mount.js'
import { type CasterLogins, Mounts } from './mounts.js'
import type { CasterOptions } from './options.js'
import { errorReply, streamHead, tableReply } from './replies.js'
import { InheritedRover, Rovers } from './rovers.js'
import { reachedAt, tableLines } from './table.js'

/** A request that is not complete by then is none. */
const head_ms = 10_000
const certificateLook_ms = 60_000
/** Until the clock is known, it is asked for this often. */
const clockLook_ms = 300_000
/** A service that is reloaded is back by then. Without any service the port is given up. */
const absence_ms = 20_000
/** Unsent bytes after which a rover is disconnected: half a minute of a full stream. */
const backlog_bytes = 131_072

const inheritedChecks = () => ({ rover: Compile(InheritedRover), base: Compile(InheritedBase) })

/** Rovers connect to the station itself; foreign bases push to mountpoints of their own. */
export class Caster {
  readonly #ctx: PluginContext
  readonly #options: Static<typeof CasterOptions>
  readonly #users: CasterLogins['users']
  readonly #login: LoginCheck
  /** The passwords of foreign bases, as logins whose names are mountpoints. */
  readonly #bases: MountLogins
  readonly mounts: Mounts
  readonly rovers: Rovers
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

  constructor(ctx: PluginContext, options: Static<typeof CasterOptions>, logins: CasterLogins) {
    this.#ctx = ctx
    this.#options = options
    this.#users = logins.users
    this.#login = new LoginCheck(ctx)
    this.rovers = new Rovers(ctx)
    this.mounts = new Mounts(ctx, options, logins, this.rovers)
    this.#bases = stationLogins(
      logins.bases,
      () => false,
      (name) => this.mounts.spelt(name),
    )
  }

  /** @param listening false: no client can connect until `move` */
  start(port: number, listening: boolean): void {
    this.#wanted = listening ? port : undefined
    this.mounts.start(() => this.#servicesChanged())
    void this.#lookAtClock()
  }

  /** Without anything to offer, it does not listen. */
  #servicesChanged(): void {
    void this.#absence()
    const { isOffering, isMissing } = this.mounts
    if (isOffering && this.#wanted !== undefined && this.#listeners.length === 0) this.#listen(this.#wanted)
    if (!isMissing && (isOffering || this.#listeners.length === 0)) return
    this.#absence = this.#ctx.timers.after(absence_ms, () => {
      this.mounts.giveUpMissing()
      if (!isOffering) this.#shut()
    })
  }

  get address() {
    return this.#listeners[0]?.address
  }

  /** Ends the connections of one of the station's logins. @returns how many there were */
  endUser(user: string): number {
    return this.rovers.endUser(user, this.mounts.logins)
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
    const foreign = base && this.mounts.foreignMount(base.base)
    const mount = rover && this.mounts.find(rover.mount)
    if (base && foreign && !foreign.offered) foreign.goOn(connection, base)
    else if (rover && mount) this.#keepRover(connection, mount, rover)
    else connection.end()
  }

  #keepRover(connection: Connection, mount: MountPoint, inherited: Static<typeof InheritedRover>): void {
    const { known, gga, mount: _mount, ...facts } = inherited
    this.rovers.add(connection, mount, facts, { ...(known && { known }), ...(gga && { gga }) })
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
    const mount = this.mounts.find(asked)
    if (asked === '' || (!mount && version === 1)) return connection.end(this.#table(request, connection, isLocal))
    if (!mount)
      return this.#refuse(connection, 404, `there is no mountpoint ${asked.slice(0, 64)}: GET / lists them`, version)
    // From here on it has its own name, in whatever letters the rover asked for it.
    const { name, logins } = mount
    const login = basicLogin(headers)
    const isOpen = isLocal && logins.isOpen
    const user = login && (await this.#login.check(login, name, logins, connection, isOpen))
    if (user === 'unasked') return this.#refuse(connection, 403, tooMany, version)
    if (user === 'unavailable') return this.#refuse(connection, 503, 'logins cannot be checked now: try again', version)
    if (!user && !isOpen)
      return this.#refuse(connection, 401, 'user or password is wrong, or not for this mountpoint', version, '', name)
    if (user) {
      const elsewhere = await logins.elsewhere(user.user)
      // After the wait: others may have logged in meanwhile.
      const all = this.rovers.ofUser(user.user, logins) + elsewhere
      if (all >= user.most && !(await this.rovers.displace(user.user, logins)))
        return this.#refuse(connection, 503, `${user.user} has ${all} connections already`, version)
      // A change ends the connections of a login: one that waited here would not be among them.
      if (!logins.known(login, name))
        return this.#refuse(connection, 503, `${user.user} was changed meanwhile: log in again`, version)
    }
    if (connection.closed) return
    const chunked = version === 2 && mount.plainV2 !== true
    connection.write(streamHead(version, chunked, this.#date_ms))
    const read = this.rovers.add(connection, mount, {
      ...{ user: user?.user ?? '', version, chunked },
      ...this.#facts(request),
    })
    const gga = headers.get('ntrip-gga')
    if (gga) read(Buffer.from(`${gga}\r\n`))
    read(rest)
    connection.resume()
  }

  async #answerBase(connection: Connection, request: NtripRequest, rest: Buffer): Promise<void> {
    const { method, mount: asked, version, headers } = request
    const mount = this.mounts.foreignMount(asked)
    const name = mount?.name ?? asked
    const refuse = (status: number, text: string) =>
      this.#refuse(connection, status, text, version, method, status === 401 ? name : '')
    if (this.mounts.isOwn(asked)) return refuse(409, 'this mountpoint is the station’s own')
    if (!mount) return refuse(404, 'no base may push to this mountpoint')
    // NTRIP 1 has no user, and with NTRIP 2 it is the password of the mountpoint that counts.
    const password = request.password ?? basicLogin(headers)?.password ?? ''
    const allowed = await this.#login.check({ user: name, password }, name, this.#bases, connection)
    if (allowed === 'unasked') return refuse(403, tooMany)
    if (!allowed) return refuse(401, 'the password is not that of this mountpoint')
    if (connection.closed || this.mounts.foreignMount(name) !== mount) return connection.end()
    if (mount.taken) return refuse(409, 'another base pushes to this mountpoint')
    mount.release('silent: another one takes its place')
    connection.write(streamHead(method === 'SOURCE' ? 1 : 2, false, this.#date_ms))
    const chunked = /chunked/i.test(headers.get('transfer-encoding') ?? '')
    const read = mount.take(connection, { ...this.#facts(request), chunked })
    connection.onData(read)
    read(rest)
    connection.resume()
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
    const { serial } = this.#ctx
    const facts = {
      serial,
      ...reachedAt(headers.get('host'), socket),
      place: place || serial,
      country,
      generator: `rtk-base ${this.#ctx.services.use(device).version}`,
      // For this client: some only send their login if the table requires one.
      needsLogin: !isLocal || !this.mounts.logins.isOpen,
    }
    const lines = tableLines(this.mounts.offered(), facts)
    return tableReply(version, browser, tableText(filterLines(lines, query)), this.#date_ms)
  }

  /** `ntrip.caster` of the document. */
  block(enabled: boolean): NtripCasterInfo {
    return {
      enabled,
      port: this.address?.port ?? 0,
      tls: this.#listeners[1]?.address?.port ?? 0,
      mounts: this.mounts.own.map(({ name }) => name),
      users: this.#users.count,
      connected: this.rovers.size,
      refused: this.#refused,
      rovers: this.rovers.block(),
      bases: this.mounts.foreign.map((mount) => mount.block()),
    }
  }
}

const tooMany = 'too many wrong passwords: wait 10 min'
