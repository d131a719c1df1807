import { Card, FigureList, Tone } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { at, type Json, listAt, numberAt, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { type Output, toneOf } from '../../../../../../runtime/lib/page/ui/station/links.js'
import { duration, figure, moment, t, word } from '../../i18n/index.js'
import { said } from '../../i18n/plugin-texts.js'

interface Step {
  t: number
  step: string
  text: string
  done: boolean
}

/** Whether the connections out of the house hold, and what is done when none does: folded while all is well. */
export function Outbound({ document }: { document: Json }) {
  if (at(document, 'links') === undefined) return null
  // Idle: nothing is set up, so nothing is to be said.
  const outputs = listAt<Output>(document, 'links.outputs').filter(({ state }) => state !== 'idle')
  const steps = listAt<Step>(document, 'links.recovery.steps')
  const waiting = textAt(document, 'links.recovery.text')
  const outage = numberAt(document, 'links.recovery.outage') ?? 0
  if (outputs.length === 0 && steps.length === 0) return null
  return (
    <Card title={t('links.outputs')}>
      {outage > 0 && <p class="trouble">{t('links.outage', { time: duration(outage) })}</p>}
      {waiting && <p>{said(waiting)}</p>}
      {outputs.map(({ name, state, reason, since, next, attempts, step, family }) => (
        <div key={name} class="command">
          <h3>{nameOf(name)}</h3>
          <p>
            <Tone tone={toneOf(state)}>{word('links.state', state)}</Tone>{' '}
            <span class="quiet">{t('verdict.for', { time: duration(since) })}</span>
            {family !== 0 && <span class="quiet"> · IPv{family}</span>}
          </p>
          {reason && <p>{said(reason)}</p>}
          {state !== 'up' && (
            <p>
              {t('links.next')}: {nextText(next, attempts, word('links.step', step))}
            </p>
          )}
        </div>
      ))}
      {steps.length > 0 && (
        <details>
          <summary>{t('links.steps')}</summary>
          <ul class="plain">
            {[...steps].reverse().map((one) => (
              <li key={`${one.t} ${one.step}`}>
                {moment(one.t)}: {one.text} {!one.done && t('links.notDone')}
              </li>
            ))}
          </ul>
        </details>
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

/** The first word is the plugin that has the connection. */
function nameOf(name: string): string {
  const [plugin = '', ...rest] = name.split(' ')
  return [word('links.plugin', plugin), ...rest].join(' ')
}

const nextText = (next: number, attempts: number, how: string) =>
  [
    next > 0 ? t('links.in', { time: duration(next) }) : t('links.underWay'),
    how,
    t('links.attempts', { count: attempts }),
  ]
    .filter(Boolean)
    .join(' · ')
