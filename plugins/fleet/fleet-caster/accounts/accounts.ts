import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type EventSource, type PluginContext, RtkError } from 'rtk-base/plugin'
import { type FleetDatabase, fleetDatabase, type MountLogin } from 'rtk-base/services'

const channel = 'fleet_caster_account'
/** A login that was right is asked for again after this long while the database answers. */
const fresh_ms = 300_000
/** While the database is down, a login that was right so long ago is still accepted. */
const known_ms = 86_400_000
const mostKnown = 20_000
const validity_ms = 30_000

export const accountSteps: readonly string[] = [
  `create table fleet_caster_account (
     name text primary key,
     hash text not null,
     mounts text not null default '[]',
     most integer not null default 1,
     from_s bigint not null default 0,
     until_s bigint not null default 0,
     note text not null default '',
     revision bigint not null default 1,
     created timestamptz not null default now());
   create table fleet_caster_connection (
     instance text not null,
     account text not null,
     connections integer not null,
     seen timestamptz not null default now(),
     primary key (instance, account));
   create index fleet_caster_connection_account on fleet_caster_connection (account)`,
]

/** Rights and limits of an account. */
export interface Terms {
  /** Empty: every mountpoint. */
  readonly mounts: readonly string[]
  /** Connections at the same time, on all instances. */
  readonly most: number
  /** UTC seconds, 0: no limit. */
  readonly from_s: number
  readonly until_s: number
  readonly note: string
}
export interface Account extends Terms {
  readonly name: string
  readonly created: string
}

interface Row {
  readonly name: string
  readonly hash: string
  readonly mounts: string
  readonly most: number
  readonly from_s: number
  readonly until_s: number
  readonly note: string
  readonly revision: number
  readonly created: Date
}

/** A login that was right, as the database had it then. */
interface Known {
  readonly row: Row
  /** Monotonic ms. */
  readonly at_ms: number
}

/**
 * Passwords are generated with 160 random bits. Nobody can guess one, not even with the hash, so a plain hash is enough. scrypt is for
 * passwords that people choose: it would cost 50 ms of a core for each of thousands of rovers that reconnect at once.
 */
const generate = () => randomBytes(20).toString('base64url')
const hashOf = (password: string) => createHash('sha256').update(password).digest('base64url')
const isSame = (one: string, other: string) => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
/** Whether a mountpoint of an account, in whatever letters it was entered, is the one that a client asks for. */
export type IsAsked = (mount: string) => boolean

const columns = 'name, hash, mounts, most, from_s, until_s, note, revision, created'
const mountsOf = ({ mounts }: Row) => JSON.parse(mounts) as string[]
const asAccount = (row: Row): Account => ({
  name: row.name,
  mounts: mountsOf(row),
  most: row.most,
  from_s: Number(row.from_s),
  until_s: Number(row.until_s),
  note: row.note,
  created: row.created.toISOString(),
})

/** The accounts of rovers, in the database. Logins that were right lately are kept, so that an outage of the database stops no rover. */
export class Accounts {
  readonly #ctx: PluginContext
  readonly #utc_ms: () => number
  readonly #known = new Map<string, Known>()
  readonly #ends: EventSource<{ user: string; why: string }>
  /** Accounts with connections at this instance. */
  readonly #connected: () => Iterable<string>

  constructor(ctx: PluginContext, utc_ms: () => number, connected: () => Iterable<string>) {
    this.#ctx = ctx
    this.#utc_ms = utc_ms
    this.#connected = connected
    this.#ends = ctx.event()
  }

  get onEnd() {
    return this.#ends.on
  }

  get #database(): FleetDatabase {
    return this.#ctx.services.use(fleetDatabase)
  }

  start(): void {
    const end = this.#database.listen(channel, (name) => this.#heard(name))
    this.#ctx.defer(end)
    this.#ctx.timers.every(validity_ms, () => this.#endExpired())
  }

  async #endExpired(): Promise<void> {
    const connected = [...this.#connected()]
    // Those that logged in before a reload.
    const unknown = connected.filter((name) => !this.#known.has(name))
    if (unknown.length > 0 && this.#database.connected) {
      const rows = await this.#readAll(unknown)
      for (const name of unknown) {
        const row = rows.get(name)
        if (row) this.#keep(row)
        else this.#end(name, 'it was deleted')
      }
    }
    for (const name of connected) {
      const row = this.#known.get(name)?.row
      if (row && !this.#isValid(row)) this.#end(name, 'it has expired')
    }
  }

  // ── logins ────────────────────────────────────────────────────────────────────────────────────────────────────────

  known(user: string, password: string, isAsked: IsAsked): MountLogin | undefined {
    const known = this.#known.get(user)
    const age_ms = known ? this.#ctx.clock.monotonic() - known.at_ms : 0
    if (!known || age_ms > (this.#database.connected ? fresh_ms : known_ms)) return undefined
    return this.#judge(known.row, password, isAsked)
  }

  async login(user: string, password: string, isAsked: IsAsked): Promise<MountLogin | undefined> {
    if (user.length > 64 || password.length > 128) return undefined
    let row: Row | undefined
    try {
      row = await this.#read(user)
    } catch (error) {
      const known = this.#known.get(user)
      if (!known || this.#ctx.clock.monotonic() - known.at_ms > known_ms) throw error
      return this.#judge(known.row, password, isAsked)
    }
    const login = row && this.#judge(row, password, isAsked)
    if (row && login) this.#keep(row)
    return login
  }

  #judge(row: Row, password: string, isAsked: IsAsked): MountLogin | undefined {
    if (!isSame(row.hash, hashOf(password)) || !this.#isValid(row)) return undefined
    const mounts = mountsOf(row)
    return mounts.length === 0 || mounts.some(isAsked) ? { user: row.name, most: row.most } : undefined
  }

  #isValid({ from_s, until_s }: Row): boolean {
    const now_s = this.#utc_ms() / 1000
    return now_s >= Number(from_s) && (Number(until_s) === 0 || now_s < Number(until_s))
  }

  #keep(row: Row): void {
    this.#known.delete(row.name)
    this.#known.set(row.name, { row, at_ms: this.#ctx.clock.monotonic() })
    if (this.#known.size > mostKnown) this.#known.delete(this.#known.keys().next().value as string)
  }

  async #read(name: string): Promise<Row | undefined> {
    return (await this.#readAll([name])).get(name)
  }

  async #readAll(names: readonly string[]): Promise<Map<string, Row>> {
    const rows = await this.#database.query<Row>(
      `select ${columns} from fleet_caster_account where name = any($1::text[])`,
      [names],
    )
    return new Map(rows.map((row) => [row.name, row]))
  }

  /** @param name undefined: notifications were lost, any account may have changed */
  async #heard(name: string | undefined): Promise<void> {
    const names = name === undefined ? [...this.#known.keys()] : [name]
    const rows = await this.#readAll(names)
    for (const one of names) {
      const before = this.#known.get(one)?.row
      const row = rows.get(one)
      if (row && before && Number(row.revision) === Number(before.revision)) this.#keep(row)
      else {
        this.#known.delete(one)
        this.#end(one, row ? 'it was changed' : 'it was deleted')
      }
    }
  }

  #end(user: string, why: string): void {
    this.#ends.emit({ user, why })
  }

  // ── administration ────────────────────────────────────────────────────────────────────────────────────────────────

  async list(): Promise<Account[]> {
    const rows = await this.#database.query<Row>(`select ${columns} from fleet_caster_account order by name`)
    return rows.map(asAccount)
  }

  /** @returns the password, which cannot be read again @throws RTK_ERR_COMMAND_VALUE: the name is taken */
  async add(name: string, { mounts, most, from_s, until_s, note }: Terms): Promise<string> {
    const password = generate()
    const rows = await this.#database.query(
      `insert into fleet_caster_account (name, hash, mounts, most, from_s, until_s, note) values ($1, $2, $3, $4, $5, $6, $7)
       on conflict do nothing returning name`,
      [name, hashOf(password), JSON.stringify(mounts), most, from_s, until_s, note],
    )
    if (rows.length === 0) throw new RtkError('RTK_ERR_COMMAND_VALUE', `there is an account ${name} already`)
    return password
  }

  /**
   * Connections of the account are ended on all instances: they log in again under the new terms.
   * @returns a new password if one was asked for; undefined: there is no such account
   */
  async change(
    name: string,
    terms: Partial<Terms>,
    isNewPassword: boolean,
  ): Promise<{ password?: string } | undefined> {
    const password = isNewPassword ? generate() : undefined
    const values = {
      ...(password && { hash: hashOf(password) }),
      ...(terms.mounts && { mounts: JSON.stringify(terms.mounts) }),
      ...(terms.most !== undefined && { most: terms.most }),
      ...(terms.from_s !== undefined && { from_s: terms.from_s }),
      ...(terms.until_s !== undefined && { until_s: terms.until_s }),
    }
    const all = { ...values, ...(terms.note !== undefined && { note: terms.note }) }
    const isOther = Object.keys(values).length > 0
    const sets = Object.keys(all).map((column, index) => `${column} = $${index + 2}`)
    if (isOther) sets.push('revision = revision + 1')
    if (sets.length === 0) return (await this.#read(name)) && {}
    const rows = await this.#database.query(
      `update fleet_caster_account set ${sets.join(', ')} where name = $1 returning name`,
      [name, ...Object.values(all)],
    )
    if (rows.length === 0) return undefined
    if (isOther) await this.#tell(name)
    return password ? { password } : {}
  }

  /** @returns false: there was none */
  async delete(name: string): Promise<boolean> {
    const rows = await this.#database.query('delete from fleet_caster_account where name = $1 returning name', [name])
    if (rows.length > 0) await this.#tell(name)
    return rows.length > 0
  }

  async #tell(name: string): Promise<void> {
    await this.#database.notify(channel, name)
  }
}
