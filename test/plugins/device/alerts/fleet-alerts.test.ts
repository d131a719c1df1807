/** Alerts of a fleet: what the registry reports, and which of several instances sends. */
import t, { type Test } from 'tap'
import { tables } from '../../../../plugins/device/alerts/rows.js'
import { alertsOf, isUndecided } from '../../../../plugins/fleet/fleet-registry/alerts.js'
import { type AnyPlugin, definePlugin, type EventSource } from '../../../../runtime/plugin.js'
import {
  type Alert,
  type FleetDatabase,
  type FleetJudgement,
  type FleetStation,
  fleetDatabase,
} from '../../../../schemas/services.js'
import { ManualClock } from '../../../harness/index.js'
import { followClock, openDatabase } from '../../../harness/peers/embedded-database.js'
import { alert, alertsRig, HookServer, hooksTo, soon } from './alerts-rig.js'

const day_s = 86_400
const now_s = 100 * day_s
const fit: FleetStation = {
  ...{ serial: 'S1', name: 'Roof', group: 'north', labels: {}, online: 'online', onlineSince_s: 1, verdict: 'fit' },
  ...{ cause: 'ok', why: '', verdictSince_s: 1, source: 'state', arp: undefined, place: undefined, reference: 'r' },
  ...{ version: '1', variant: 'v', rtcm: { signed: false, rate_s: 1 }, rovers: 0, uplink: '', certificateUntil_s: 0 },
  ...{ update: { state: '', failed: false }, errors: [], firstSeen_s: 1, seen_s: 1, document_s: 1 },
}
const kinds = (more: Partial<FleetStation>) =>
  alertsOf({ ...fit, ...more }, { now_s, offline_s: 180 }).map(({ kind, severity }) => `${kind} ${severity}`)

t.test('the alerts of one station', (t) => {
  t.strictSame(kinds({}), [])
  t.strictSame(kinds({ online: 'unknown', verdict: 'unknown', cause: 'not-heard' }), [], 'nothing is known of it')
  t.strictSame(kinds({ online: 'offline', onlineSince_s: now_s - 179 }), [])
  t.strictSame(kinds({ online: 'offline', onlineSince_s: now_s - 180 }), ['offline warning'])
  t.strictSame(kinds({ verdict: 'unknown', cause: 'silent' }), ['offline warning'], 'its last will was lost')
  const lost = { online: 'offline', onlineSince_s: 1, verdict: 'unfit' } as const
  t.strictSame(kinds({ ...lost, cause: 'antenna' }), ['offline warning'], 'one alert for one cause')
  t.strictSame(kinds({ ...lost, cause: 'moved' }), ['offline warning', 'moved critical'])
  t.strictSame(kinds({ verdict: 'unfit', cause: 'antenna', verdictSince_s: now_s }), ['unfit warning'])
  t.strictSame(kinds({ verdict: 'unfit', cause: 'starting', verdictSince_s: now_s - 60 }), [])
  t.strictSame(kinds({ verdict: 'degraded', cause: 'slips', verdictSince_s: now_s - 599 }), [])
  t.strictSame(kinds({ verdict: 'degraded', cause: 'slips', verdictSince_s: now_s - 600 }), ['degraded warning'])
  t.strictSame(kinds({ update: { state: 'failed', failed: true } }), ['update-failed warning'])
  t.strictSame(kinds({ certificateUntil_s: now_s + 13 * day_s }), ['certificate warning'])
  t.strictSame(kinds({ certificateUntil_s: now_s - 1 }), ['certificate critical'])
  t.strictSame(kinds({ errors: ['x', 'log-not-saved'] }), ['disk warning'])
  const open = (more: Partial<FleetStation>, kind: string) => isUndecided({ ...fit, ...more }, kind)
  t.notOk(open({}, 'moved'))
  t.ok(open({ online: 'offline' }, 'moved'), 'whoever is offline sends no all-clear')
  t.ok(open({ verdict: 'unknown' }, 'unfit'))
  t.ok(open({ verdict: 'unfit', cause: 'starting' }, 'moved'))
  t.ok(open({ online: 'unknown' }, 'offline'))
  t.notOk(open({ verdict: 'degraded' }, 'unfit'))
  t.end()
})

t.test('the alert of a wrong position', (t) => {
  const judged: FleetJudgement = {
    ...{ serial: 'S1', state: 'contradicts', reason: 'outvoted', vectors: 3, window_s: 0, since_s: 77 },
    ...{ offset: { east: 0.01, north: 0, up: -0.134 }, sigma: { east: 0.003, north: 0.003, up: 0.006 } },
    cause: { kind: 'height', values: {}, text: 'The height is too large.' },
  }
  const of = (judgement?: FleetJudgement) => alertsOf(fit, { now_s, offline_s: 180 }, judgement)
  t.match(of(judged), [
    {
      ...{ key: 'S1 position', severity: 'critical', since_s: 77 },
      text: 'the position is wrong by 0.134 m (too high) according to 3 neighbours: The height is too large.',
    },
  ])
  t.match(of({ ...judged, offset: { east: 0, north: -2, up: 0 } }), [{ text: /2\.000 m \(too far north\)/ }])
  for (const state of ['agrees', 'unknown'] as const) t.strictSame(of({ ...judged, state }), [])
  t.strictSame(of(), [])
  t.notOk(isUndecided(fit, 'position', { ...judged, state: 'agrees' }), 'all clear')
  t.ok(isUndecided(fit, 'position', { ...judged, state: 'unknown' }), 'nobody says that it is right again')
  t.ok(isUndecided(fit, 'position'))
  const surveyed: FleetJudgement = { ...judged, cause: { kind: 'survey', values: { acc_m: 2 }, text: 'As surveyed.' } }
  t.strictSame(of(surveyed), [], 'as right as it promises')
  t.notOk(isUndecided(fit, 'position', surveyed))
  t.ok(isUndecided(fit, 'position', judged))
  t.notOk(isUndecided(fit, 'position', null), 'nobody judges positions any more')
  t.end()
})

/** A database that instances share. Its time is that of the clock, which they share, too. */
async function sharedDatabase(t: Test, clock = new ManualClock()) {
  const database = await openDatabase()
  followClock(database, clock)
  t.teardown(() => database.close())
  for (const step of tables) await database.exec(step)
  const rows = async <R extends object>(sql: string) => (await database.query<R>(sql)).rows
  const listeners = new Set<(payload: string) => unknown>()
  const instance = () => {
    let leading: EventSource<boolean> | undefined
    const own = { connected: true, leads: false, answers: Promise.resolve() }
    const plugin = definePlugin({
      name: 'database',
      version: '1.0.0',
      api: '^1.0.0',
      provides: [fleetDatabase],
      setup(ctx) {
        const onLeads = ctx.event<boolean>()
        leading = onLeads
        const query = async (sql: string, values: readonly unknown[] = []) => {
          await own.answers
          if (!own.connected) throw new Error('no connection')
          return (await database.query(sql, [...values])).rows
        }
        ctx.services.provide(fleetDatabase, {
          get connected() {
            return own.connected
          },
          get leads() {
            return own.leads && own.connected
          },
          ...{ query: query as FleetDatabase['query'], onLeads: onLeads.on, migrate: async () => {} },
          now_s: async () => clock.now() / 1_000,
          transaction: (work) => work(query as FleetDatabase['query']),
          listen(_channel, take) {
            const heard = (payload: string) => take(payload)
            listeners.add(heard)
            return () => {
              listeners.delete(heard)
            }
          },
          notify: async (_channel, payload) => {
            for (const heard of listeners) heard(payload)
          },
        })
      },
    })
    const lead = (leads: boolean) => {
      own.leads = leads
      leading?.emit(leads)
    }
    return { plugin: plugin as AnyPlugin, own, lead }
  }
  return { clock, database, rows, instance }
}

t.test('one instance sends; the next one continues where it was', async (t) => {
  const hook = await HookServer.make(t)
  const { clock, rows, instance } = await sharedDatabase(t)
  const [one, two] = [instance(), instance()]
  const moved = alert('S1', 'moved', { severity: 'critical' })
  const rig = async (plugin: AnyPlugin) =>
    alertsRig(t, { clock, changes: hooksTo(hook), plugins: { database: plugin }, reported: [moved] })
  const first = await rig(one.plugin)
  const second = await rig(two.plugin)
  one.lead(true)
  await first.seconds(120)
  await soon(() => hook.posted.length === 1, 'a notice of the leading instance')
  t.match(await second.json('GET', '/alerts'), [{ key: 'S1 moved', state: 'active' }], 'the other one shows it')
  const path = `/alerts/${encodeURIComponent('S1 moved')}/acknowledge`
  t.match(await second.json('POST', path), { ok: true })
  t.match(await first.json('GET', '/alerts'), [{ acknowledged: { by: 'operator' } }], 'the leading one knows')
  const waits = async () => /waiting/.test(JSON.stringify(await rows('select value from alerts_kept')))
  await soon(async () => !(await waits()), 'stored')

  one.lead(false)
  two.lead(true)
  await first.seconds(400)
  t.equal(hook.posted.length, 1, 'nothing is repeated')
  t.match(await second.json('GET', '/alerts'), [{ acknowledged: { by: 'operator' } }])
  second.report()
  await first.seconds(200)
  await soon(() => hook.posted.length === 2, 'the all-clear of the second')
  t.match(hook.subjects[1], /at its position again/)
})

t.test(
  'an instance that leads waits for a slow database, and for one that fails, without holding the station up',
  async (t) => {
    const hook = await HookServer.make(t)
    const one = (await sharedDatabase(t)).instance()
    const reported = [alert('S1', 'moved', { severity: 'critical' })]
    const { seconds } = await alertsRig(t, { changes: hooksTo(hook), plugins: { database: one.plugin }, reported })
    let answer = () => {}
    one.own.answers = new Promise((resolve) => {
      answer = resolve
    })
    // Each looks again while the stored alerts are being read.
    for (let n = 0; n < 3; n++) one.lead(true)
    await seconds(120)
    t.strictSame(hook.posted, [], 'nothing is told before it is known what was')
    one.own.connected = false
    answer()
    await seconds(120)
    one.own.connected = true
    await seconds(120)
    await soon(() => hook.posted.length === 1, 'its notice')
  },
)

t.test('the instance that led tells of the lost database, and of nothing else', async (t) => {
  const hook = await HookServer.make(t)
  const one = (await sharedDatabase(t)).instance()
  const { report, seconds } = await alertsRig(t, { changes: hooksTo(hook), plugins: { database: one.plugin } })
  one.lead(true)
  await seconds(200)
  one.own.connected = false
  const lost = alert('', 'database', { key: 'fleet database', name: '', group: '', severity: 'critical', since_s: 0 })
  report(lost, alert('S1', 'offline'))
  await seconds(120)
  await soon(() => hook.posted.length === 1, 'the lost database')
  t.strictSame(hook.subjects, ['the fleet lost its database'])
  one.own.connected = true
  report()
  one.lead(true)
  await seconds(400)
  await soon(() => hook.posted.length === 2, 'the all-clear')
  t.strictSame(hook.subjects[1], 'the fleet has its database again')
})

t.test(
  'what waited to be stored when an instance lost the lead is not stored over what the next one has',
  async (t) => {
    const { clock, rows, instance } = await sharedDatabase(t)
    const [one, two] = [instance(), instance()]
    const moved = alert('S1', 'moved', { severity: 'critical' })
    const rig = (plugin: AnyPlugin, reported: Alert[]) =>
      alertsRig(t, { clock, plugins: { database: plugin }, reported })
    const first = await rig(one.plugin, [moved])
    const second = await rig(two.plugin, [moved, alert('S2', 'offline')])
    one.lead(true)
    await first.seconds(120)
    let fail = (_error: Error) => {}
    one.own.answers = new Promise((_, reject) => {
      fail = reject
    })
    // The network to the database is gone: each look wants to store what differs, and the first waits for its answer.
    first.report(moved, alert('S3', 'offline'))
    await first.seconds(5)
    first.report(moved, alert('S4', 'offline'))
    await first.seconds(5)
    one.lead(false)
    two.lead(true)
    await second.seconds(30)
    const keys = () => rows<{ key: string }>('select key from alerts_entry order by key')
    t.strictSame(await keys(), [{ key: 'S1 moved' }, { key: 'S2 offline' }])
    one.own.answers = Promise.resolve()
    fail(new Error('no answer in 31 s'))
    await second.seconds(30)
    t.strictSame(await keys(), [{ key: 'S1 moved' }, { key: 'S2 offline' }])
  },
)
