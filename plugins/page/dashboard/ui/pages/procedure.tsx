import { useEffect } from 'preact/hooks'
import { isReadOnly } from '../../../../../runtime/lib/page/ui/http.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { duration, locale, t, word } from '../i18n/index.js'
import { adviceText, reasonText } from '../i18n/plugin-texts.js'
import { type ProcedureReport, type Transition, transitionsOf, waysOut } from '../model/gnss/procedure.js'
import { WhyForm } from '../parts/forms/why-form.js'
import { ProcedureDiagram } from '../parts/plots/procedure-diagram.js'
import { api } from '../station/api.js'
import { document$, verdict } from '../station/live.js'

const loadReport = () => api.get<ProcedureReport>('/procedure')
const day_s = 86_400
const mostTransitions = 40
const loadTransitions = async () =>
  // The record is not for viewers.
  isReadOnly.value ? [] : transitionsOf(await api.record(Math.floor(Date.now() / 1_000) - day_s), mostTransitions)
const again_ms = 2_000

/** The current state of the procedure, what it waits for, its history, and why no RTCM was sent. */
export function ProcedurePage() {
  const report = useLoaded(loadReport)
  const transitions = useLoaded(loadTransitions)
  const status = textAt(document$.value, 'gnss.state.status')
  useEffect(() => {
    const timer = setInterval(report.again, again_ms)
    return () => clearInterval(timer)
  }, [report.again])
  // Another state is another line of the record.
  useEffect(() => void transitions.again(), [status, transitions.again])
  return (
    <>
      <Waiting of={report}>{(now) => <Now report={now} />}</Waiting>
      <Card title={t('procedure.why')}>
        <WhyForm />
      </Card>
      <Card title={t('procedure.last')}>
        <Waiting of={transitions}>{(list) => <Transitions list={list} />}</Waiting>
      </Card>
    </>
  )
}

function Now({ report }: { report: ProcedureReport }) {
  const { state, states, since } = report
  const waits = states.find(({ name }) => name === state)?.waits ?? ''
  const name = word('procedure.name', state)
  return (
    <Card title={t('procedure.now')}>
      <p class="large">
        <strong>{name}</strong> <span class="quiet">{t('verdict.for', { time: duration(since) })}</span>
      </p>
      <p>
        {t('procedure.waits')} {waitsText(state, waits)}
      </p>
      {verdict.value && <p>{adviceText(verdict.value)}</p>}
      <div class="beside">
        <ProcedureDiagram report={report} label={t('procedure.diagram', { name })} />
        <div>
          <h3>{t('procedure.out')}</h3>
          <DataTable
            label={t('procedure.out')}
            rows={waysOut(report, state)}
            keyOf={({ on }) => on}
            columns={[
              { name: t('procedure.event'), isHead: true, cell: ({ on }) => on },
              { name: t('procedure.next'), cell: ({ to }) => word('procedure.name', to) },
            ]}
          />
        </div>
      </div>
    </Card>
  )
}

/** In the reader's language where it is known, else in the station's words. */
function waitsText(state: string, waits: string): string {
  const text = word('procedure.waits', state)
  return text === state ? waits : text
}

function Transitions({ list }: { list: readonly Transition[] }) {
  if (list.length === 0) return <p class="quiet">{t('procedure.noRecord')}</p>
  return (
    <DataTable
      label={t('procedure.last')}
      rows={list}
      keyOf={({ t: time, what, text }) => `${time} ${what} ${text}`}
      columns={[
        { name: t('plot.time'), isHead: true, cell: ({ t: time }) => clockOf(time) },
        { name: t('procedure.what'), cell: transitionText },
      ]}
    />
  )
}

/** Within a day the weekday is enough. */
const clockOf = (time_ms: number) =>
  new Intl.DateTimeFormat(locale(), { weekday: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(
    time_ms,
  )

function transitionText({ what, text, values }: Transition): string {
  if (what === 'procedure') return t('procedure.became', { name: word('procedure.name', text) })
  if (what === 'gate')
    return text === '' ? t('procedure.opened') : t('procedure.closed', { why: reasonText(text, values) })
  return t(what === 'run' ? 'procedure.started' : 'procedure.stopped')
}
