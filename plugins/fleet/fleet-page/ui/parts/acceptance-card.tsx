import { useCallback, useEffect, useState } from 'preact/hooks'
import { moment, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Card, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { may } from '../fleet/live.js'
import { netAgain_ms } from '../fleet/net.js'
import { type Acceptance, netApi } from '../fleet/net-api.js'
import { t } from '../i18n/index.js'
import { hoursFrom, testHours } from '../model/offsets.js'
import { outcomeTones } from './net-words.js'

/** The acceptance tests of a station; an operator starts another. */
export function AcceptanceCard({ serial }: { serial: string }) {
  const load = useCallback(() => netApi.acceptances(serial), [serial])
  const tests = useLoaded(load)
  useEffect(() => {
    const timer = setInterval(tests.again, netAgain_ms)
    return () => clearInterval(timer)
  }, [tests.again])
  return (
    <Card title={t('acceptance.title')}>
      <Waiting of={tests}>
        {(found) => (found.length === 0 ? <p class="quiet">{t('acceptance.none')}</p> : <Tests tests={found} />)}
      </Waiting>
      {may('operator') && <Start serial={serial} done={tests.again} />}
    </Card>
  )
}

const Tests = ({ tests }: { tests: readonly Acceptance[] }) => (
  <DataTable
    label={t('acceptance.title')}
    rows={tests}
    keyOf={({ id }) => id}
    columns={[
      {
        name: t('acceptance.begun'),
        isHead: true,
        cell: ({ begun, id }) => (
          <a class="target" href={`#/acceptance?id=${id}`}>
            {moment(begun)}
          </a>
        ),
      },
      { name: t('acceptance.end'), cell: ({ ended, until }) => moment(ended || until) },
      { name: t('acceptance.by'), cell: ({ by }) => by || '–' },
      { name: t('acceptance.outcome'), cell: ({ outcome }) => <OutcomeOf outcome={outcome} /> },
    ]}
  />
)

export const OutcomeOf = ({ outcome }: Pick<Acceptance, 'outcome'>) => (
  <Tone tone={outcomeTones[outcome]}>{word('acceptance.outcome', outcome)}</Tone>
)

function Start({ done, serial }: { serial: string; done: () => void }) {
  const [text, setText] = useState(String(testHours.usual))
  const hours = hoursFrom(text)
  const submission = useSubmit(async () => {
    if (hours === undefined) return ''
    const { until } = await netApi.accept(serial, hours)
    done()
    return t('acceptance.started', { time: moment(until) })
  })
  return (
    <Form label={t('acceptance.start')} submission={submission} isDisabled={hours === undefined}>
      <Field
        kind="number"
        label={t('acceptance.hours')}
        value={text}
        set={setText}
        help={t('acceptance.hoursHelp', { least: testHours.least, most: testHours.most })}
      />
    </Form>
  )
}
