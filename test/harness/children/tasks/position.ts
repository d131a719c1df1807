/** Tasks about the position of the antenna. */
import { until } from '../../manual-clock.js'
import { compare, post, textWith } from '../browser-rig.js'
import type { Player } from './player.js'

export async function positionTasks(player: Player): Promise<void> {
  const { button, field, group, hands, info, is, page, station, tap, yes } = player
  await is('fixed')
  await player.task(
    'the survey-in is started',
    2,
    async () => {
      // While nothing goes out it needs no question.
      // A busy machine may block the service for a second, which degrades it.
      await page.waitForSelector('.verdict-fit, .verdict-degraded')
      await tap(button('Start survey-in'))
      await tap(yes(/^Yes/))
      await is('survey')
    },
    'survey',
  )
  await player.task(
    'the survey-in is stopped',
    2,
    async () => {
      await tap(button('Stop survey-in'))
      await tap(yes(/^Yes/))
      await until(async () => (await info()).gnss.state.status !== 'survey', 'the end of the survey-in')
    },
    'survey',
  )
  await is('fixed')
  await post(station, '/system?start-survey-in')
  await player.task(
    'the survey-in is ended and used',
    2,
    async () => {
      await tap(button('Use this position'))
      await tap(yes(/^Yes/))
      await until(async () => (await info()).gnss.ref.survey.allow_use === 1, 'the permission')
    },
    'survey',
  )
  await is('fixed')

  await player.task('a position is entered', 3, async () => {
    await tap(group('Position'))
    await hands.enter(field('Position'), '52° 00\' 00.05" N 4° 00\' 00.06" E 50.5 m')
    await tap(button('Review'))
    await tap(yes('Yes, use it'))
    compare(
      'the position is taken',
      await textWith(page, 'main [role=status]', /Saved/),
      '✓ Saved. Corrections go out as soon as the receiver agrees with it.',
    )
    await until(async () => (await info()).gnss.ref.chosen === 'manual', 'the entered reference')
  })
  await is('fixed')

  await player.task('a position is kept under a name, without being used, and deleted', 6, async () => {
    const form = page.locator('main form').filter({ hasText: 'Use as reference' })
    await tap(group('Position'))
    await hands.enter(field('Position'), '52° 00\' 00.07" N 4° 00\' 00.06" E 50.5 m')
    await tap(form.getByRole('checkbox', { name: 'Use as reference' }))
    await hands.enter(form.getByLabel('Name', { exact: true }), 'North <b>marker')
    await tap(button('Review'))
    await tap(yes('Keep'))
    const kept = page.getByRole('heading', { name: 'North <b>marker' })
    await kept.waitFor()
    await tap(button('Delete North <b>marker'))
    await tap(yes(/^Yes/))
    await kept.waitFor({ state: 'detached' })
  })

  await player.task('a far position needs a second yes', 4, async () => {
    await tap(group('Position'))
    await hands.enter(field('Position'), '53 4 50')
    await tap(button('Review'))
    compare('it cannot be sent yet', await yes('Yes, use it').isDisabled(), true)
    await tap(page.getByRole('dialog').getByRole('checkbox'))
    compare('it can be sent', await yes('Yes, use it').isDisabled(), false)
    await tap(yes('Cancel'))
    compare('nothing was sent', (await info()).gnss.state.status, 'fixed')
  })

  await post(station, '/system?sim=move%200.8%200%200')
  await is('moved')
  await player.task('moved: it is where it was', 2, async () => {
    await tap(button('It is where it was'))
    const banner = await page.locator('.verdict').innerText()
    compare(
      'W4: buttons answer, and no command is to be sent',
      /\bsend\b|-survey-in|confirm-position/.exec(banner),
      null,
    )
    const question = await page.getByRole('dialog').innerText()
    compare('W3: the question has the distance', /measures (80|[78]\d\.\d) cm to/.test(question) || question, true)
    await tap(yes(/^Yes/))
    await until(async () => (await info()).gnss.ref.override !== undefined, 'the override')
    const shown = await textWith(page, '.verdict', /A person confirmed this position/)
    // By the phases: what positions say at that moment would be metres.
    compare('W3: the override has the distance of the move', /be (80|[78]\d\.\d) cm away/.test(shown) || shown, true)
    // Which may come a moment after the override.
    const checked = await textWith(page, '.verdict', /(Not sending yet|Working)/)
    compare('it says that it is being checked', /(Not sending yet|Working)/.test(checked) || checked, true)
  })

  await player.task('why there were no corrections', 2, async () => {
    await tap(player.tab('Timeline'))
    await player.says('the cause stands there', '.gap', /seem(s|ed) to have moved/)
  })
}
