/** Tasks about the ways on which corrections leave the station. The caster to push to is its own, on the loopback. */
import { until } from '../../manual-clock.js'
import { compare, post } from '../browser-rig.js'
import type { Player } from './player.js'

export async function outputTasks(player: Player): Promise<void> {
  const { button, field, group, hands, info, page, station, tab, tap } = player
  await post(station, '/actions/ntrip-base', { login: 'NORTH:right-one' })
  const { port } = (await info()).ntrip.caster
  const fill = async (password: string) => {
    await hands.enter(field('Host'), '127.0.0.1')
    await hands.enter(field('Port'), String(port))
    await hands.enter(field('Mountpoint'), 'NORTH')
    await hands.enter(field('Password'), password)
  }

  await player.task('a caster with a wrong password', 3, async () => {
    await tap(group('Outputs'))
    await tap(button('Another caster'))
    await fill('wrong-one')
    await tap(button('Test'))
    await player.says('the test says what is wrong', '.tested', /Login refused[\s\S]*password/)
    compare('it can be saved all the same', await button('Save anyway').count(), 1)
  })
  await page.reload()
  await player.task('push to a caster', 4, async () => {
    await tap(group('Outputs'))
    await tap(button('Another caster'))
    await fill('right-one')
    await tap(button('Test'))
    await player.says('the test says that it works', '.tested', /accepts this station/)
    await tap(button('Save'))
    await player.says('the caster has the stream', '.command .tone', /corrections arrive/)
  })
  await player.task(
    'a source of corrections for the survey-in',
    3,
    async () => {
      await tap(button('Add a source'))
      await hands.enter(field('Host'), 'ntrip://127.0.0.1')
      await hands.enter(field('Port'), String(port))
      await hands.enter(field('Mountpoint'), 'NORTH')
      await tap(button('Test'))
      await player.says('observations of it arrive', '.tested', /Observations arrive[\s\S]*0\.0 km away/)
      await tap(button('Save'))
      await player.says('it is used by the next one', 'main', /NORTH · \S* ?ready/)
    },
    'survey',
  )
  await post(station, `/change?${encodeURIComponent('ntrip-client={"host":""}')}`)
  await player.task('the push is switched off and on', 3, async () => {
    const toggle = page.getByRole('checkbox', { name: /^Push to/ })
    await tap(group('Outputs'))
    // The answer comes late: until then the switch can be seen to wait, and no tap is lost.
    let answer = () => {}
    const isOff = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/ntrip-server', async (route) => {
      if (route.request().method() === 'GET') return route.continue()
      const response = await route.fetch()
      await isOff
      await route.fulfill({ response })
    })
    await tap(toggle)
    await until(async () => (await info()).ntrip.server[0]?.state === 'off', 'the switch')
    compare('the switch waits for the answer', await toggle.isDisabled(), true)
    answer()
    await until(() => toggle.isEnabled(), 'the answer')
    await page.unroute('**/ntrip-server')
    await tap(toggle)
    await until(async () => (await info()).ntrip.server[0]?.state !== 'off', 'the switch back')
  })

  await player.task('a login for a rover', 3, async () => {
    await tap(group('Outputs'))
    await tap(tab('Rovers'))
    await tap(button('Save login'))
    await player.says('what to enter is shown', '.enter-this', /rover-1[\s\S]*Password\s*\S{8,}/)
    await page.getByRole('img', { name: 'QR code with the same text' }).waitFor()
  })
}
