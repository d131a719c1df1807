/** Tasks about the device itself. The last ones set passwords and restart it. */
import { until } from '../../manual-clock.js'
import { compare, textWith } from '../browser-rig.js'
import type { Player } from './player.js'

export async function deviceTasks(player: Player): Promise<void> {
  const { button, field, group, hands, info, page, station, tab, tap, yes } = player
  await player.task('a setting is found by what people call it', 2, async () => {
    await tap(page.getByRole('button', { name: 'Search' }))
    await hands.enter(page.getByLabel('Search pages and settings'), 'name of the station')
    await tap(page.getByRole('dialog').getByRole('link', { name: /Name of the station/ }))
    await page.locator('.field').first().waitFor()
    compare('only that one is shown', await page.locator('.field').count(), 1)
  })
  const report = `rtk-base-report-${(await info()).esp.serial}.tar.gz`
  await player.task(
    'the report for support',
    1,
    async () => {
      const download = page.waitForEvent('download')
      await tap(page.getByRole('link', { name: 'Download support report' }))
      compare('it is an archive', (await download).suggestedFilename(), report)
    },
    'maintenance',
  )
  await player.task('the log', 2, async () => {
    await tap(group('Device'))
    await tap(tab('Logs'))
    await page.locator('.log li').first().waitFor()
    await hands.enter(field('Contains'), 'no such line')
    await player.says('it is searched', 'main p', /^0 lines/)
  })
  for (const [what, name] of [
    ['the receiver', 'Restart the receiver'],
    ['the modem', 'Restart the modem'],
    ['the router', 'Restart the router'],
  ] as const) {
    await player.task(
      `${what} restarts`,
      2,
      async () => {
        await tap(button(name))
        await tap(yes(/^Yes/))
        await page.locator('.action [role=status]').filter({ hasText: /\w/ }).first().waitFor()
        compare(`${what}: no error`, await page.locator('.action .trouble').filter({ hasText: /\w/ }).count(), 0)
      },
      'maintenance',
    )
  }

  await player.task('a password is set', 3, async () => {
    await tap(group('Device'))
    await tap(tab('Access'))
    await hands.enter(field('New password'), 'north-field-26')
    await tap(button('Set password'))
    compare(
      'it is saved',
      await textWith(page, 'main [role=status]', /Saved/),
      '✓ Saved. Everyone else has to log in again.',
    )
    compare('others have to log in', (await fetch(`${station.url}/get-info`)).status, 401)
  })
  await player.task('a login for a second person who may only look', 2, async () => {
    const card = page.locator('.card').filter({ hasText: 'A second login, to look only' })
    await tap(group('Device'))
    await tap(tab('Access'))
    await hands.enter(card.getByLabel('Present password'), 'north-field-26')
    await hands.enter(card.getByLabel('New password'), 'south-field-26', { isSent: true })
    await card.locator('[role=status]').filter({ hasText: 'Saved' }).waitFor()
    const body = JSON.stringify({ token: 'south-field-26' })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${station.url}/session`, { method: 'POST', headers, body })
    compare('it may only look', ((await answer.json()) as { role?: string }).role, 'viewer')
  })

  await player.task(
    'the station restarts',
    2,
    async () => {
      await tap(button('Restart the station'))
      await tap(yes(/^Yes/))
      await until(
        () => station.child.exitCode !== null || page.getByText('No contact').count().then(Boolean),
        'the end',
      )
    },
    'maintenance',
  )
}
