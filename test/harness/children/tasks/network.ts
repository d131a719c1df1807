/** Tasks about the network: WiFi, with a change that cuts the page off, the APN, the operator of the mobile network, the name. */
import { execFileSync } from 'node:child_process'
import { until } from '../../manual-clock.js'
import { address, compare, post } from '../browser-rig.js'
import type { Player } from './player.js'

const simulate = async (player: Player, what: string, line: string) =>
  void (await post(player.station, `/system?${what}=${encodeURIComponent(line)}`))

export async function networkTasks(player: Player): Promise<void> {
  const { button, field, group, hands, info, more, page, tap } = player
  // The page comes over the WiFi, so that another one may cut it off.
  await simulate(player, 'sim-network', `address workshop ${address}/24`)
  await simulate(player, 'sim-network', 'network hill good-password 6 -58')

  const join = async (name: string, password: string) => {
    await tap(group('Device'))
    await tap(button(/^Search (for networks|again)/))
    await tap(button(new RegExp(`^${name}`)))
    await hands.enter(field(`Password of ${name}`), password, { isSent: true })
  }
  await player.task('a WiFi is joined', 3, async () => {
    await join('workshop', 'correct horse')
    await until(async () => (await info()).sta?.ip4 === address, 'the address in the WiFi')
    await player.says('the page says so', 'main .tone', /Joined workshop/)
  })
  const countdown = page.locator('.trial')
  await player.task('another WiFi cuts the page off', 3, async () => {
    await join('hill', 'good-password')
    await player.says('the time to answer is counted down', '.trial', /on trial[\s\S]*\d+ s left to keep it/)
    execFileSync('ip', ['addr', 'del', `${address}/24`, 'dev', 'lo'])
    await player.says('the page says that it hears nothing', '[role=alert]', /No contact/)
    // Nobody asks the station for anything while the page is away.
    await new Promise((resolve) => setTimeout(resolve, 21_000))
    execFileSync('ip', ['addr', 'add', `${address}/24`, 'dev', 'lo'])
    await player.says('back again, it says that the change was undone', '[role=alert]', /taken back[\s\S]*choose Keep/)
    compare('the WiFi is the one before', (await info()).sta?.ssid, 'workshop')
  })
  await until(async () => (await info()).sta?.ip4 === address, 'the WiFi before')
  await player.task('another WiFi is kept', 4, async () => {
    await join('hill', 'good-password')
    await tap(countdown.getByRole('button', { name: 'Keep' }))
    await countdown.waitFor({ state: 'detached' })
    compare('it stays', (await info()).sta?.ssid, 'hill')
  })

  await player.task('an operator of the mobile network', 3, async () => {
    await tap(group('Device'))
    await tap(button('Search for operators'))
    await tap(page.locator('.choice').filter({ hasText: /\d{5}/ }))
    await until(async () => (await info()).modem.cfg.plmn > 0, 'the operator')
  })
  await player.task('the station gets a name', 2, async () => {
    await tap(group('Device'))
    await hands.enter(field('Name of the station'), 'Barn roof')
    await tap(button('Save the name'))
    await until(async () => (await info()).base.name === 'Barn roof', 'the name')
  })
  await player.task('the APN', 3, async () => {
    await tap(group('Device'))
    await tap(more('Change the APN'))
    await hands.enter(field('APN'), 'internet')
    await tap(page.locator('details[open]').getByRole('button', { name: 'Save' }))
    await until(async () => (await info()).modem.cfg.apn === 'internet', 'the APN')
  })
  await player.task('a fixed address for the cable, and back to DHCP', 6, async () => {
    const save = () => tap(page.locator('details[open]').getByRole('button', { name: 'Save' }))
    await tap(group('Device'))
    await tap(more('Fixed address'))
    await hands.enter(field('Address of this station'), '192.168.1.20')
    await hands.enter(field('Router (gateway)'), '192.168.1.1')
    await save()
    await until(async () => (await info()).eth?.ip === '192.168.1.20', 'the fixed address')
    await hands.enter(field('Address of this station'), '')
    await save()
    await until(async () => (await info()).eth?.ip === '192.168.1.50', 'the address of the network')
  })
}
