/** The simulated network: its language, and the ways out that follow. */
import t from 'tap'
import { startRig } from './rig.js'

t.test('a machine with a port and a radio', async (t) => {
  const { network, uplinks, sim, clock } = await startRig(t)
  t.equal(network.ready, true)
  t.strictSame(
    network.interfaces.map(({ name, state }) => `${name} ${state}`),
    ['eth0 connecting', 'wlan0 disconnected'],
  )
  await clock.advance(1_000)
  t.strictSame(
    uplinks.list.map(({ name, kind, up }) => ({ name, kind, up })),
    [
      { name: 'eth0', kind: 'eth', up: true },
      { name: 'wlan0', kind: 'sta', up: false },
    ],
  )
  t.match(sim.command('cable eth0 off'), /eth0 unavailable/)
  await clock.advance(0)
  t.equal(uplinks.list[0].up, false)
  const scan = network.scan('wlan0')
  await clock.advance(3_000)
  t.strictSame(
    (await scan).map(({ ssid }) => ssid),
    ['workshop', 'guests'],
  )
  const wrong = network.join('wlan0', { ssid: 'workshop', password: 'guess the word' })
  wrong.catch(() => {})
  await clock.advance(3_000)
  await t.rejects(wrong, { code: 'RTK_ERR_NETWORK', cause: { failure: 'wrong password' } })
  const right = network.join('wlan0', { ssid: 'workshop', password: 'correct horse' })
  await clock.advance(2_000)
  await right
  t.equal(uplinks.list[0].kind, 'sta')
  const ap = network.startAccessPoint('wlan0', {
    ssid: 'base',
    password: '12345678',
    channel: 6,
    address: '192.168.4.1/24',
  })
  await clock.advance(1_000)
  await ap
  t.equal(network.interfaces[1].wifi?.mode, 'ap')
  t.equal(uplinks.list.length, 1)
})
