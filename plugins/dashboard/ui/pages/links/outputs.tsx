import { duration, figure, moment, t, word } from '../../i18n/index.js'
import { type Output, toneOf } from '../../model/links.js'
import { Card, FigureList, Tone } from '../../parts/card.js'
import { at, type Json, listAt, numberAt, textAt } from '../../station/document.js'

interface Step {
  t: number
  step: string
  text: string
  done: boolean
}

export function Outputs({ document }: { document: Json }) {
  if (at(document, 'links') === undefined) return null
  const outputs = listAt<Output>(document, 'links.outputs')
  const steps = listAt<Step>(document, 'links.recovery.steps')
  const waiting = textAt(document, 'links.recovery.text')
  const outage = numberAt(document, 'links.recovery.outage') ?? 0
  return (
    <Card title={t('links.outputs')}>
      {outage > 0 && <p class="trouble">{t('links.outage', { time: duration(outage) })}</p>}
      {waiting && <p>{waiting}</p>}
      {outputs.map(({ name, state, reason, since, next, attempts, step, family }) => (
        <div key={name} class="command">
          <h3>{name}</h3>
          <p>
            <Tone tone={toneOf(state)}>{word('links.state', state)}</Tone>{' '}
            <span class="quiet">{t('verdict.for', { time: duration(since) })}</span>
          </p>
          {reason && <p>{reason}</p>}
          {state !== 'up' && state !== 'idle' && (
            <p>
              {t('links.next')}: {nextText(next, attempts, word('links.step', step))}
            </p>
          )}
          {family !== 0 && <p class="quiet">IPv{family}</p>}
        </div>
      ))}
      {steps.length > 0 && (
        <>
          <h3>{t('links.steps')}</h3>
          <ul class="plain">
            {[...steps].reverse().map((one) => (
              <li key={`${one.t} ${one.step}`}>
                {moment(one.t)}: {one.text} {!one.done && t('links.notDone')}
              </li>
            ))}
          </ul>
        </>
      )}
      <FigureList
        rows={[
          [t('links.uplink'), textAt(document, 'links.recovery.uplink')],
          [t('links.restarts'), figure(numberAt(document, 'links.recovery.restarts'), 0)],
        ]}
      />
    </Card>
  )
}

const nextText = (next: number, attempts: number, how: string) =>
  [
    next > 0 ? t('links.in', { time: duration(next) }) : t('links.underWay'),
    how,
    t('links.attempts', { count: attempts }),
  ]
    .filter(Boolean)
    .join(' · ')
