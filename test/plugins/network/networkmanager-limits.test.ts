/** How long NetworkManager is waited for, with a daemon that takes every call and then does nothing. */
import { BusConnection, type BusEvents, type Call } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import { ManualClock } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { interfaces, rootPath } from '../../../plugins/network/network/networkmanager/names.js'
import { NetworkManager } from '../../../plugins/network/network/networkmanager/network-manager.js'

const radio = `${rootPath}/Devices/1`
const profile = `${rootPath}/Settings/1`
const activation = `${rootPath}/ActiveConnection/1`
const activating = 1
const objects = {
  [rootPath]: { [interfaces.root]: { Startup: false } },
  [radio]: {
    [interfaces.device]: { Interface: 'wlan0', State: 30 },
    [interfaces.wireless]: { LastScan: 7, AccessPoints: [] },
  },
  [activation]: { [interfaces.active]: { State: activating } },
}
const answers: Readonly<Record<string, readonly unknown[]>> = {
  GetManagedObjects: [objects],
  GetConnectionByUuid: [undefined],
  AddConnection2: [profile],
  ActivateConnection: [activation],
}

/** @param opens whether the bus takes the connection */
function setUp(t: Test, { opens = true } = {}) {
  const asked: string[] = []
  const call = async ({ member, answered }: Call) => {
    asked.push(member)
    answered?.()
    return answers[member] ?? []
  }
  const bus = { match: async () => {}, ownerOf: async () => ':1.1', close() {}, call, callRaw: call }
  const never = new Promise<BusConnection>(() => {})
  t.intercept(BusConnection, 'open', {
    value: (_address: string, _events: BusEvents, _limit_ms: number) => (opens ? Promise.resolve(bus) : never),
  })
  const clock = new ManualClock()
  const ctx = {
    log: { debug() {}, info() {}, warn() {}, error() {} },
    timers: { after: (ms: number, fn: () => void) => clock.timer(ms, fn) },
    signal: new AbortController().signal,
    event: () => ({ on: () => () => {}, emit() {} }),
  }
  const network = new NetworkManager(ctx as unknown as PluginContext, 'unix:path=/nowhere')
  return { clock, network, asked }
}

/** How a call stands: `''` while it is under way, then `done` or its message. */
function followed(call: Promise<unknown>): () => string {
  let now = ''
  call.then(
    () => {
      now = 'done'
    },
    (error: Error) => {
      now = error.message
    },
  )
  return () => now
}

t.test('a bus that takes no connection holds the start up for 2 s, and not longer', async (t) => {
  const { clock, network } = setUp(t, { opens: false })
  const state = followed(network.start())
  await clock.advance(1_999)
  t.equal(state(), '')
  await clock.advance(1)
  t.equal(state(), 'done')
  t.equal(network.ready, false)
})

t.test(
  'a network that is joined, or an access point, has 60 s to come up, and its profile goes back then',
  async (t) => {
    const { clock, network, asked } = setUp(t)
    await network.start()
    for (const begin of [
      () => network.join('wlan0', { ssid: 'hall', password: '' }),
      () => network.startAccessPoint('wlan0', { ssid: 'base', password: '', channel: 6, address: '192.168.4.1/24' }),
    ]) {
      asked.length = 0
      const call = begin()
      const state = followed(call)
      await clock.advance(59_999)
      t.equal(state(), '')
      t.notOk(asked.includes('Delete'))
      await clock.advance(1)
      t.equal(state(), 'wlan0: not connected within 60 s')
      await t.rejects(call, { code: 'RTK_ERR_NETWORK', cause: { failure: 'timeout' } })
      t.ok(asked.includes('Delete'), 'the profile that did not come up')
    }
  },
)

t.test('a scan that does not end gives what is known after 15 s', async (t) => {
  const { clock, network, asked } = setUp(t)
  await network.start()
  const call = network.scan('wlan0')
  const state = followed(call)
  await clock.advance(0)
  t.strictSame(asked.slice(-1), ['RequestScan'])
  await clock.advance(14_999)
  t.equal(state(), '')
  await clock.advance(1)
  t.equal(state(), 'done')
  t.strictSame(await call, [])
})
