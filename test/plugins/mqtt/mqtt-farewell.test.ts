import t from 'tap'
import type { Broker } from '../../../plugins/mqtt/mqtt-link/broker.js'
import { Farewell } from '../../../plugins/mqtt/mqtt-link/session/farewell.js'
import { leaveLimit_ms, type Session } from '../../../plugins/mqtt/mqtt-link/session/session.js'
import { ManualClock } from '../../harness/index.js'

const [here, there] = [
  { host: 'here', port: 1 },
  { host: 'there', port: 1 },
]

/** Sessions that say what was said, and whether it could be. */
function rig() {
  const said: string[] = []
  const session = (broker: Broker, { up = true, can = true, until: ready = Promise.resolve() } = {}) =>
    ({
      broker,
      up,
      async leave(status: string, { patient = false } = {}) {
        await ready
        said.push(`${status} ${broker.host}${can || patient ? '' : ' not'}`)
        return can || patient
      },
    }) as unknown as Session
  const clock = new ManualClock()
  const farewell = new Farewell(clock, (broker) => session(broker, { up: false, can: false }))
  return { said, session, farewell, clock }
}

t.test('q without an r before it takes the session that is there, and no other', async (t) => {
  const { said, session, farewell } = rig()
  await farewell.quit(session(here))
  await farewell.quit(undefined)
  t.same(said, ['q here'])
})

t.test('an r that no y followed is taken back', async (t) => {
  t.test('over a session of its own', async (t) => {
    const { said, session, farewell } = rig()
    await farewell.restart(session(here))
    await farewell.quit(undefined)
    await farewell.quit(undefined)
    t.same(said, ['r here', 'q here'], 'once')
  })

  t.test('over the session that is being made', async (t) => {
    const { said, session, farewell } = rig()
    await farewell.restart(session(here))
    await farewell.quit(session(here, { up: false }))
    t.same(said, ['r here', 'q here'])
  })

  t.test('over one more when that one did not get there, or is with another broker', async (t) => {
    const { said, session, farewell } = rig()
    await farewell.restart(session(here))
    await farewell.quit(session(here, { up: false, can: false }))
    t.same(said.splice(0), ['r here', 'q here not', 'q here'])
    await farewell.restart(session(here))
    await farewell.quit(session(there, { up: false }))
    t.same(said, ['r here', 'q there', 'q here'])
  })

  t.test('also while it is being said, and one after the other', async (t) => {
    const { said, session, farewell } = rig()
    let ready = () => {}
    const held = new Promise<void>((resolve) => {
      ready = resolve
    })
    void farewell.restart(session(here, { until: held }))
    const quit = farewell.quit(undefined)
    t.same(said, [])
    ready()
    await quit
    t.same(said, ['r here', 'q here'])
  })

  t.test('also when nobody knows whether it arrived, but not when nobody was there', async (t) => {
    const { said, session, farewell } = rig()
    await farewell.restart(session(here, { can: false }))
    await farewell.quit(undefined)
    t.same(said.splice(0), ['r here not', 'q here'])
    await farewell.restart(session(here, { up: false, can: false }))
    await farewell.quit(undefined)
    t.same(said, ['r here not'])
  })

  t.test('after a reload too', async (t) => {
    const { said, session, farewell } = rig()
    await farewell.restart(session(here))
    const next = rig()
    next.farewell.load(farewell.promised)
    await next.farewell.quit(undefined)
    t.same([...said, ...next.said], ['r here', 'q here'])
  })
})

t.test('a broker that never answers holds nobody up', async (t) => {
  const never = new Promise<void>(() => {})
  t.test('nor the q for another one', async (t) => {
    const { said, session, farewell } = rig()
    await farewell.restart(session(here))
    await farewell.quit(session(there, { up: false, until: never }))
    t.same(said, ['r here', 'q here'])
  })

  t.test('and when the time is over no session is begun', async (t) => {
    const { said, session, farewell, clock } = rig()
    await farewell.restart(session(here))
    const late = new Promise<void>((resolve) => setTimeout(resolve, leaveLimit_ms)).then(() =>
      clock.advance(leaveLimit_ms),
    )
    await farewell.quit(session(here, { up: false, can: false, until: late }))
    await late
    t.same(said, ['r here', 'q here not'])
  })
})

t.test('y keeps the promise', async (t) => {
  const { said, session, farewell } = rig()
  await farewell.restart(session(here))
  farewell.published()
  await farewell.quit(session(here))
  await farewell.quit(undefined)
  t.same(said, ['r here', 'q here'])
})
