/**
 * Run in a network of its own: what a layman does, with a finger on a phone or with the keys of a keyboard at a desk (`finger` or `keys`).
 * Taps are counted, typing is not. Two stations at once, as most of the time is the station's. One picture after each task.
 */
import { execFileSync } from 'node:child_process'
import { localStation, startBrowser } from './browser-rig.js'
import { deviceTasks } from './tasks/device.js'
import { firstStart } from './tasks/first-start.js'
import type { Mode } from './tasks/hands.js'
import { networkTasks } from './tasks/network.js'
import { outputTasks } from './tasks/outputs.js'
import { Player } from './tasks/player.js'
import { positionTasks } from './tasks/position.js'

const [mode = 'finger', shots = ''] = process.argv.slice(2) as [Mode?, string?]
const browser = await startBrowser()

/** A base with a position. */
async function onTheRoof(): Promise<void> {
  execFileSync('ip', ['addr', 'add', '192.168.78.1/24', 'dev', 'lo'])
  const station = await localStation([
    ...['--set', 'simulated-receiver.boot=fixed', '--set', 'integrity.initial_s=5'],
    // The other one loses its address for a while.
    ...['--set', 'mqtt-broker.port=1884', '--change', 'udp-port=9001', '--set', 'http.host=192.168.78.1'],
  ])
  const player = await Player.start(browser, mode, station, shots)
  await positionTasks(player)
  // A move is confirmed again until the station can compare. The network changes while the other station loses its address.
  player.quiet(/503 \(Service Unavailable\)|ERR_NETWORK_CHANGED/)
  await station.end()
}

/** A base that starts for the first time. */
async function outOfTheBox(): Promise<void> {
  const station = await localStation([
    ...['--set', 'trial.window_s=20', '--set', 'integrity.initial_s=5'],
    ...['--set', 'simulated-router.scan_s=3'],
  ])
  const player = await Player.start(browser, mode, station, shots)
  await firstStart(player)
  await networkTasks(player)
  await player.is('fixed')
  await outputTasks(player)
  await deviceTasks(player)
  player.quiet(/ERR_INTERNET_DISCONNECTED|ERR_CONNECTION|ERR_NETWORK|ERR_INCOMPLETE|ERR_ADDRESS|401 \(Unauthorized\)/)
  await station.end()
}

await Promise.all([onTheRoof(), outOfTheBox()])
await browser.close()
