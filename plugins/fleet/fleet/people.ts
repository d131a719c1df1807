import { createHash, randomBytes } from 'node:crypto'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import type { Account, Accounts, FleetDatabase, PersonSession } from 'rtk-base/services'

export const roles = ['viewer', 'operator', 'admin'] as const
export type FleetRole = (typeof roles)[number]

export interface Person {
  readonly user: string
  readonly role: FleetRole
  readonly created: string
}

interface Row {
  readonly name: string
  readonly role: FleetRole
  readonly hash: string
  readonly created: Date
}

interface SessionRow {
  readonly hash: string
  readonly name: string
  readonly expires: Date
}

const sessionOf = ({ name, expires }: SessionRow): PersonSession => ({ user: name, expires_ms: expires.getTime() })

const channel = 'fleet_people'
/** Keys are read again this often, in case that a notification got lost. */
const reload_ms = 60_000
const mostPeople = 500
/** Sessions of a person at a time; the oldest gives way. */
const mostSessions = 16

export const peopleTables = [
  `create table fleet_person (
     name text primary key,
     role text not null check (role in ('viewer', 'operator', 'admin')),
     hash text not null,
     created timestamptz not null default now());
   create table fleet_session (
     hash text primary key,
     name text not null references fleet_person (name) on delete cascade,
     expires timestamptz not null)`,
]

/** Access keys are generated with 160 random bits. Nobody can guess one, so a plain hash is enough, and a check costs nothing. */
const generate = () => `rtk_${randomBytes(20).toString('base64url')}`
const hashOf = (key: string) => createHash('sha256').update(key).digest('base64url')

/**
 * The people of the fleet. For the runtime, an admin is an operator (who may change the settings of the service) and everybody else a
 * viewer: operations on stations are the fleet's own, see `may`.
 */
export class People implements Accounts {
  readonly #ctx: PluginContext
  readonly #database: FleetDatabase
  #byHash = new Map<string, Person>()
  #byName = new Map<string, Person>()
  #sessions = new Map<string, PersonSession>()
  /** The people were read at least once. */
  #isKnown = false

  constructor(ctx: PluginContext, database: FleetDatabase) {
    this.#ctx = ctx
    this.#database = database
  }

  async start(): Promise<void> {
    this.#database.listen(channel, () => this.#read())
    this.#ctx.timers.every(reload_ms, () => this.#read())
    await this.#database.migrate('fleet', peopleTables)
    await this.#read()
  }

  async #read(): Promise<void> {
    if (!this.#database.connected) return
    try {
      const { query } = this.#database
      const sessions = await query<SessionRow>('select hash, name, expires from fleet_session')
      const rows = await query<Row>('select name, role, hash, created from fleet_person')
      const people = rows.map(({ name, role, hash, created }) => ({
        hash,
        person: { user: name, role, created: created.toISOString() },
      }))
      this.#byHash = new Map(people.map(({ hash, person }) => [hash, person]))
      this.#byName = new Map(people.map(({ person }) => [person.user, person]))
      this.#sessions = new Map(sessions.map((row) => [row.hash, sessionOf(row)]))
      this.#isKnown = true
    } catch (error) {
      this.#ctx.log.warn({ err: error }, 'the people of the fleet cannot be read: those known stay as they are')
    }
  }

  // ── for the runtime's login ───────────────────────────────────────────────────────────────────────────────────────

  get isKnown(): boolean {
    return this.#isKnown
  }

  get isOn(): boolean {
    return !this.#isKnown || this.#byName.size > 0
  }

  find(accessKey: string): Account | undefined {
    return accountOf(this.#byHash.get(hashOf(accessKey)))
  }

  roleOf(user: string): Account['role'] | undefined {
    return accountOf(this.#byName.get(user))?.role
  }

  session(hash: string): PersonSession | undefined {
    return this.#sessions.get(hash)
  }

  async readSession(hash: string): Promise<void> {
    const [row] = await this.#database.query<SessionRow>(
      'select hash, name, expires from fleet_session where hash = $1',
      [hash],
    )
    if (row) this.#sessions.set(hash, sessionOf(row))
  }

  async beginSession(hash: string, session: PersonSession): Promise<void> {
    const { user, expires_ms } = session
    await this.#database.transaction(async (query) => {
      await query('delete from fleet_session where expires < $1', [new Date(this.#ctx.clock.now())])
      await query(
        `delete from fleet_session where hash in
           (select hash from fleet_session where name = $1 order by expires desc offset $2)`,
        [user, mostSessions - 1],
      )
      await query('insert into fleet_session (hash, name, expires) values ($1, $2, $3)', [
        hash,
        user,
        new Date(expires_ms),
      ])
    })
    this.#sessions.set(hash, session)
  }

  async endSession(hash: string): Promise<void> {
    await this.#database.query('delete from fleet_session where hash = $1', [hash])
    await this.#changed()
  }

  // ── for the fleet ─────────────────────────────────────────────────────────────────────────────────────────────────

  list(): Person[] {
    return [...this.#byName.values()].sort((one, other) => one.user.localeCompare(other.user))
  }

  /**
   * Whether a caller has this role or a higher one. Without any people everybody is an admin.
   * @param user `''`: not a person, but the token of the service
   * @param isOperator the runtime's role of the caller
   */
  may(user: string, isOperator: boolean, needed: FleetRole): boolean {
    if (user === '') return isOperator || needed === 'viewer'
    const person = this.#byName.get(user)
    return person !== undefined && roles.indexOf(person.role) >= roles.indexOf(needed)
  }

  /** The highest role that a caller has; parameters as of `may`. */
  roleOfCaller(user: string, isOperator: boolean): FleetRole {
    return [...roles].reverse().find((role) => this.may(user, isOperator, role)) ?? 'viewer'
  }

  /** @returns the access key: shown once, stored nowhere @throws RTK_ERR_CONFLICT */
  async add(user: string, role: FleetRole): Promise<string> {
    // Then whoever asks was admitted because there is nobody.
    const isFirst = this.#byName.size === 0
    const key = generate()
    await this.#database.transaction(async (query) => {
      await query('lock table fleet_person in share row exclusive mode')
      const names = (await query<Row>('select name from fleet_person')).map(({ name }) => name)
      if (names.length >= mostPeople) throw conflict(`there are ${mostPeople} people already`)
      if (names.length === 0 && role !== 'admin') throw conflict('the first person must be an admin')
      if (names.length > 0 && isFirst) throw conflict('somebody else has become the first admin: log in')
      if (names.includes(user))
        throw conflict(`${user} is there already: delete that person first, or choose another name`)
      await query('insert into fleet_person (name, role, hash) values ($1, $2, $3)', [user, role, hashOf(key)])
    })
    await this.#changed()
    return key
  }

  /** @returns false: nobody has this name @throws RTK_ERR_CONFLICT for the last admin */
  async delete(user: string): Promise<boolean> {
    const gone = await this.#database.transaction(async (query) => {
      const people = await query<Row>('select name, role from fleet_person for update')
      const others = people.filter(({ name }) => name !== user)
      if (others.length === people.length) return false
      if (!others.some(({ role }) => role === 'admin'))
        throw conflict('this is the last admin: add another admin first')
      await query('delete from fleet_person where name = $1', [user])
      return true
    })
    if (gone) await this.#changed()
    return gone
  }

  async #changed(): Promise<void> {
    await this.#read()
    await this.#database.notify(channel, '')
  }
}

const accountOf = (person: Person | undefined): Account | undefined =>
  person && { user: person.user, role: person.role === 'admin' ? 'operator' : 'viewer' }

const conflict = (message: string) => new RtkError('RTK_ERR_CONFLICT', message)
