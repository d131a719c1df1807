/** The first start of a station: the guide of five steps, left and resumed. */
import { compare } from '../browser-rig.js'
import type { Player } from './player.js'

export async function firstStart(player: Player): Promise<void> {
  const { field, hands, page, tap } = player
  const openStep = () => page.locator('.guide details[open] > summary')
  await player.task('the guide is begun', 3, async () => {
    await tap(page.getByRole('link', { name: 'Start set-up guide' }))
    await hands.enter(field('Name of the station'), 'Barn')
    await tap(page.getByRole('button', { name: /^Next/ }))
    await player.says('one button saves and opens the next step', '.guide details[open] > summary', /Antenna/)
    await tap(page.getByRole('button', { name: /^Next/ }))
    await player.says('then the position', '.guide details[open] > summary', /Position/)
    compare('the name is saved', (await player.info()).base.name, 'Barn')
  })
  await player.task('the guide is resumed', 3, async () => {
    await tap(player.tab('Set-up guide'))
    await openStep().waitFor()
    await player.says('at what is still open', '.guide details[open] > summary', /Name and password/)
    await tap(page.locator('.guide summary').filter({ hasText: 'Outputs' }))
    await player.says('a step says what was found', '.guide details[open] > summary', /NTRIP caster/)
    await tap(page.getByRole('button', { name: /^Next/ }))
    await player.says('the last one has the summary', '.guide details[open]', /Summary/)
  })
}
