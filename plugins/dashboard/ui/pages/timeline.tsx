import { t } from '../i18n/index.js'
import { Card } from '../parts/card.js'
import { WhyForm } from '../parts/forms/why-form.js'
import { DayCard } from '../parts/plots/day-card.js'

/** When corrections went out, and why not. */
export function TimelinePage() {
  return (
    <>
      <DayCard />
      <Card title={t('procedure.why')}>
        <WhyForm />
      </Card>
    </>
  )
}
