/** Rollouts on stations of the specification, through the broker and the database. */
import t from 'tap'
import fleetRollout from '../../../plugins/fleet/fleet-rollout/index.js'
import httpApi from '../../../plugins/page/http-api/index.js'
import type { AnyPlugin } from '../../../runtime/plugin.js'
import { drive } from '../../harness/drive.js'
import { createTestStation } from '../../harness/index.js'
import { openDatabase } from '../../harness/peers/embedded-database.js'
import type { SpecStation } from '../../harness/peers/spec-station.js'
import { FakeFleet } from './caster-rig.js'
import { type FleetRig, fleetRig } from './rig.js'

interface Shown {
  rollout: { id: number; state: string; reason: string; wave: number }
  targets: { serial: string; state: string; reason: string }[]
}

/** It sends an epoch each second, and installs images. */
class Updatable {
  readonly station: SpecStation
  fate: 'good' | 'bad' = 'good'
  #left = -1

  constructor(station: SpecStation) {
    this.station = station
  }

  /** A second passes. */
  tick(): void {
    this.station.say('drtk', Buffer.alloc(200, 0xd3))
    if (this.#left < 0) return
    this.#left -= 1
    if (this.#left === 20) this.#be({ version: '2.0.0', update: { state: 'verifying', failed: false } })
    if (this.#left !== 0) return
    if (this.fate === 'good') this.#be({ version: '2.0.0', update: { state: 'idle', failed: false } })
    else this.#be({ version: '1.0.0', update: { state: 'failed', failed: true } })
  }

  begin(): string {
    this.#left = 40
    this.#be({ version: '1.0.0', update: { state: 'installing', failed: false } })
    return 'update started'
  }

  revert(): string {
    this.#left = -1
    this.#be({ version: '1.0.0', update: { state: 'failed', failed: true } })
    return 'ok'
  }

  #be({ version, update }: { version: string; update: object }): void {
    const { station } = this
    station.document = documentOf(station.serial, version, update)
    station.state = { ...station.state, version }
    station.sayState()
    station.sayDocument()
  }
}

const documentOf = (serial: string, version = '1.0.0', update: object = { state: 'idle', failed: false }) => ({
  esp: { serial, version, hardware: 'zed-f9p' },
  base: { update, state: { errors: [] } },
  mqtt: { rtcm: { rate: 1, sign: false } },
})

/** What can be set on each of them. */
const settings = {
  parameters: [
    ...['udp-port', 'weather-limit', 'own'].map((name) => ({ name, secret: false })),
    ...['sta-pswd', 'raw-push-login', 'alerts-hooks'].map((name) => ({ name, secret: true })),
  ].map((one) => ({ ...one, plugin: 'p', title: one.name, schema: {}, endsLink: false, onTrial: false })),
  actions: [],
}

async function stationsOf(rig: FleetRig, count: number, more: object = {}): Promise<Map<string, Updatable>> {
  const all = new Map<string, Updatable>()
  for (let at = 0; at < count; at++) {
    const serial = `S${at}`
    const command = (text: string) => {
      const found = all.get(serial)
      if (text.startsWith('firmware=')) return found?.begin() ?? ''
      return text === 'ota-revert' ? (found?.revert() ?? '') : 'ok'
    }
    const state = {
      ...{ verdict: 'fit', cause: 'ok', since: 1_790_000_000, reference: '00000000', version: '1.0.0' },
      arp: [3_925_405 + at * 100_000, 274_491, 4_900_000],
    }
    const station = await rig.station(serial, { state, document: documentOf(serial), command, ...more })
    station.say('settings', JSON.stringify(settings), true)
    all.set(serial, new Updatable(station))
  }
  await rig.passes(
    async () => (await rig.get<{ stations: unknown[] }>('/fleet/stations')).stations.length === count,
    'the stations',
  )
  return all
}

/** Seconds pass, in which the stations work. A failure tells what the rollout was last. */
async function shownWhen(
  { rig, stations, id }: { rig: FleetRig; stations: Map<string, Updatable>; id: unknown },
  condition: (shown: Shown) => boolean,
  what: string,
): Promise<Shown> {
  let shown: Shown | undefined
  const isSo = async () => {
    for (const station of stations.values()) station.tick()
    shown = await rig.get<Shown>(`/fleet/rollouts/${id}`)
    return condition(shown)
  }
  await rig.passes(isSo, () => `${what}: ${JSON.stringify(shown)}`, 1_000)
  return shown as Shown
}

const hasEnded = ({ rollout }: Shown) => rollout.state === 'stopped' || rollout.state === 'done'

const plan = (given: object = {}) => ({
  ...{ name: 'to 2.0.0', filter: {}, what: { image: 'https://example.net/2.img', version: '2.0.0' } },
  ...{ waves: [{ count: 1 }], soak_s: 30, prove_s: 10, apart_km: 1, ...given },
})

t.test('an image, wave by wave', async (t) => {
  const rig = await fleetRig(t)
  const stations = await stationsOf(rig, 4)
  t.match(await rig.send('POST', '/fleet/rollouts/preview', plan()), {
    body: { waves: [{ length: 1 }, { length: 3 }], waits: [], open: true },
  })
  t.match(await rig.send('POST', '/fleet/rollouts', plan({ filter: { version: '9' } })), { status: 409 })
  t.match(await rig.send('POST', '/fleet/rollouts', { ...plan(), waves: [{ count: 0 }] }), { status: 400 })
  await t.test('W10: a parameter that is misspelt is refused before anybody is asked', async (t) => {
    const misspelt = { 'udp-prot': 2_103 }
    for (const what of [{ change: misspelt }, { change: { 'udp-port': 2_103 }, back: misspelt }])
      for (const path of ['/fleet/rollouts/preview', '/fleet/rollouts'])
        t.match(await rig.send('POST', path, plan({ what })), {
          status: 400,
          body: { message: /^station \S+: unknown parameter udp-prot \(did you mean "udp-port"\?\)$/ },
        })
  })
  await t.test('C8: as many serial numbers as promised are taken', async (t) => {
    const serials = Array.from({ length: 20_000 }, (_, at) => `${at}`.padStart(64, 'X'))
    const given = (some: string[]) => plan({ filter: { serials: some } })
    const preview = await rig.send('POST', '/fleet/rollouts/preview', given(serials))
    t.match(preview, { status: 200, body: { waves: [] } })
    const begun = await rig.send('POST', '/fleet/rollouts', given(serials))
    t.match(begun, { status: 409, body: { message: /no station fits/ } })
    t.match(await rig.send('POST', '/fleet/rollouts', given([...serials, 'S1'])), { status: 400 })
  })
  await t.test('S6: nobody sees the secrets in a plan, and stations get them', async (t) => {
    const change = {
      'sta-pswd': 'geheim-1',
      'raw-push-login': 'bob:geheim-2',
      'udp-port': 2_103,
      own: { psk: 'geheim-3' },
    }
    const what = { change, back: { 'alerts-hooks': [{ name: 'a', url: 'https://a.test/geheim-4' }] } }
    const made = await rig.send('POST', '/fleet/rollouts', plan({ filter: { serials: ['S1'] }, what }))
    const seen = [made.body, await rig.get('/fleet/rollouts'), await rig.get(`/fleet/rollouts/${made.body.id}`)]
    for (const one of seen) t.notMatch(JSON.stringify(one), /geheim/)
    t.match(made.body, { plan: { what: { change: { 'sta-pswd': '…', 'raw-push-login': '…', 'udp-port': 2_103 } } } })
    await shownWhen({ rig, stations, id: made.body.id }, hasEnded, 'its end')
    t.strictSame(stations.get('S1')?.station.changes, [change])
  })
  const { body } = await rig.send('POST', '/fleet/rollouts', plan())
  const id = Number(body.id)
  const until = (condition: (shown: Shown) => boolean, what: string) =>
    shownWhen({ rig, stations, id }, condition, what)
  await until(({ targets }) => targets.filter(({ state }) => state === 'done').length === 1, 'the canary')
  t.equal([...stations.values()].filter(({ station }) => station.commands.length > 0).length, 1)

  // Everything is killed in the middle, and begins again from the database.
  await until(({ targets }) => targets.some(({ state }) => state === 'asked'), 'the second wave')
  await rig.fleet.reload('fleet-rollout')
  await rig.fleet.reload('fleet-registry')
  t.match(await until(hasEnded, 'all of them'), { rollout: { state: 'done', reason: '' } })
  t.ok(
    [...stations.values()].every(
      ({ station }) => station.commands.filter((text) => text.startsWith('firmware')).length <= 2,
    ),
  )
  t.match(await rig.send('POST', `/fleet/rollouts/${id}/stop`), {
    status: 409,
    body: { message: /the rollout is done/ },
  })
})

t.test('a bad image stops after the canary, whose old version runs again', async (t) => {
  const rig = await fleetRig(t)
  const stations = await stationsOf(rig, 3)
  for (const station of stations.values()) station.fate = 'bad'
  const { body } = await rig.send('POST', '/fleet/rollouts', plan())
  const shown = await shownWhen({ rig, stations, id: body.id }, hasEnded, 'the end')
  t.equal(shown.rollout.state, 'stopped')
  t.match(shown.rollout.reason, /^1 failed, S\d first: /)
  t.equal([...stations.values()].filter(({ station }) => station.commands.length > 0).length, 1)
  for (const { station } of stations.values()) t.match(station.document, { esp: { version: '1.0.0' } })
})

t.test('a change: refused, unknown, without an answer, and taken back', async (t) => {
  const rig = await fleetRig(t)
  const answers: Record<string, unknown> = {
    S0: { result: 'failed', leftover: {}, errors: [{ name: 'udp-port', message: 'at most 65535' }] },
  }
  const stations = await stationsOf(rig, 1, { change: () => answers.S0 })
  const end = async (what: object) => {
    const { body } = await rig.send('POST', '/fleet/rollouts', plan({ what, limit_s: 300 }))
    return shownWhen({ rig, stations, id: body.id }, hasEnded, 'the end')
  }
  const { station } = stations.get('S0') as Updatable
  t.match(await end({ change: { 'udp-port': 70_000 } }), {
    targets: [{ state: 'failed', reason: /refuses the change: at most 65535/ }],
  })
  answers.S0 = { result: 'ok', leftover: { 'weather-limit': 1 } }
  const back = { 'udp-port': 2_101 }
  t.match(await end({ change: { 'udp-port': 2_102, 'weather-limit': 1 }, back }), {
    targets: [{ reason: /does not know weather-limit/ }],
  })
  await rig.passes(() => JSON.stringify(station.changes.at(-1)) === JSON.stringify(back), 'what it knew is undone')
  answers.S0 = undefined
  const before = station.changes.length
  t.match(await end({ change: { 'udp-port': 1 }, back: { 'udp-port': 2_102 } }), {
    targets: [{ reason: /told three times|in time/ }],
  })
  // It did not hear that it should go back, and the instance that told it is killed: the next one tells it.
  const told = station.changes.length
  await rig.fleet.reload('fleet-rollout')
  answers.S0 = { result: 'ok', leftover: {} }
  await rig.passes(() => station.changes.length > told, 'it is told again', 1_000)
  t.same(station.changes.at(-1), { 'udp-port': 2_102 })
  t.ok(station.changes.length - before >= 3, 'it was told again')
  await rig.passes(() => station.changes.some((values) => values['udp-port'] === 2_102), 'its way back')
  answers.S0 = { result: 'ok', leftover: {} }
  t.match(await end({ change: { 'udp-port': 2_103 } }), { rollout: { state: 'done' } })
})

t.test(
  'stations that have to go back are told by the next instance, although the database is away for a moment',
  async (t) => {
    const database = await openDatabase()
    t.teardown(() => database.close())
    const shared = new FakeFleet(database)
    const plugins = () => ({
      'fake-fleet': shared.plugin(),
      'http-api': httpApi as AnyPlugin,
      'fleet-rollout': fleetRollout as AnyPlugin,
    })
    const station = await createTestStation({ clock: shared.clock, plugins: plugins() })
    t.teardown(() => station.stop())
    const query = (sql: string, values: unknown[] = []) => database.query(sql, values)
    const isMade = async () => (await query(`select to_regclass('fleet_rollout_target') as made`)).rows
    await drive(shared.clock, async () => JSON.stringify(await isMade()).includes('target'), 'the tables')
    const what = { change: { 'udp-port': 1 }, back: { 'udp-port': 2 } }
    await query(`insert into fleet_rollout (plan, state, actor, ended) values ($1, 'stopped', 'anna', now())`, [
      JSON.stringify({ name: 'r', what }),
    ])
    const now_s = shared.clock.now() / 1_000
    for (const serial of ['S1', 'S2'])
      await query(
        `insert into fleet_rollout_target (rollout, serial, wave, state, before, since) values (1, $1, 0, 'undone', '{}', to_timestamp($2))`,
        [serial, now_s],
      )
    await query(
      `insert into fleet_job (kind, key, run_at) select 'rollout-back', '1 S' || n, now() from generate_series(1, 2) as n`,
    )
    await station.reload('fleet-rollout')
    shared.fails = 'from fleet_rollout where id'
    await drive(shared.clock, () => shared.failed > 0, 'it is asked in vain', 1_000)
    t.strictSame(shared.changed, [])
    shared.fails = ''
    await drive(shared.clock, () => shared.changed.length > 1, 'both are told', 10_000)
    t.strictSame(new Set(shared.changed), new Set(['S1', 'S2']))
  },
)
