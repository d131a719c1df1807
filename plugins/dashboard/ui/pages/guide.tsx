import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { said, t } from '../i18n/index.js'
import { type GuideStep, guideOf, guideSteps, type StepReport } from '../model/guide.js'
import { Tone, type ToneName } from '../parts/card.js'
import { AntennaStep, NetworkStep, OutputsStep, PositionStep } from '../parts/guide-steps.js'
import { useLoaded } from '../parts/loaded.js'
import { api, type Session } from '../station/api.js'
import type { Json } from '../station/document.js'
import { document$, satellites, verdict } from '../station/live.js'

const loadParameters = () => api.parameters()
const loadSession = () => api.session()
type Shown = GuideStep | 'summary'
const order: readonly Shown[] = [...guideSteps, 'summary']

/** The set-up guide. Its progress is derived from the station's state, so users can leave and come back. */
export function GuidePage() {
  const document = document$.value
  const session = useLoaded(loadSession)
  if (!document) return <p>{t('app.connecting')}</p>
  return <Steps document={document} session={session.value} />
}

function Steps({ document, session }: { document: Json; session: Session | undefined }) {
  const reports = guideOf({ document, satellites: satellites.value, hasLogin: session?.login })
  // Chosen once: a step does not close while it is being read.
  const [open, setOpen] = useState<Shown | undefined>(() => firstOpen(reports))
  const parameters = useLoaded(loadParameters)
  const list = useRef<HTMLOListElement>(null)
  const isMoved = useRef(false)
  const go = (step: Shown | undefined) => {
    isMoved.current = true
    setOpen(step)
  }
  useEffect(() => {
    if (isMoved.current) list.current?.querySelector<HTMLElement>('details[open] > summary')?.focus()
  }, [open])

  const bodies: Readonly<Record<GuideStep, () => ComponentChildren>> = {
    antenna: () => <AntennaStep document={document} />,
    position: () => <PositionStep document={document} />,
    outputs: () => <OutputsStep document={document} parameters={parameters} />,
    network: () => <NetworkStep document={document} parameters={parameters} session={session} />,
  }
  return (
    <>
      <p>{t('guide.intro')}</p>
      <ol class="guide" ref={list}>
        {reports.map((report) => {
          const { step, missing, advice } = report
          return (
            <Step key={step} step={step} isOpen={open === step} state={stateOf(report)} go={go}>
              {missing.map((one) => (
                <p key={one} class="trouble">
                  {t(`guide.missing.${one}`)}
                </p>
              ))}
              {advice.map((one) => (
                <p key={one}>{t(`guide.advice.${one}`)}</p>
              ))}
              {bodies[step]()}
            </Step>
          )
        })}
        <Step step="summary" isOpen={open === 'summary'} state={reports.every(isDone) ? 'done' : 'open'} go={go}>
          <Summary reports={reports} go={go} />
        </Step>
      </ol>
    </>
  )
}

const isDone = ({ missing }: StepReport) => missing.length === 0
const firstOpen = (reports: readonly StepReport[]): Shown => reports.find((one) => !isDone(one))?.step ?? 'summary'
type StepState = 'done' | 'advised' | 'open'
const tones: Readonly<Record<StepState, ToneName>> = { done: 'good', advised: 'good', open: 'warning' }
const stateOf = (report: StepReport): StepState =>
  isDone(report) ? (report.advice.length > 0 ? 'advised' : 'done') : 'open'

function Step(props: {
  step: Shown
  isOpen: boolean
  state: StepState
  go: (step: Shown | undefined) => void
  children: ComponentChildren
}) {
  const { children, go, isOpen, state, step } = props
  const next = order[order.indexOf(step) + 1]
  return (
    <li class="card">
      <details
        open={isOpen}
        onToggle={({ currentTarget }) => {
          if (currentTarget.open !== isOpen) go(currentTarget.open ? step : undefined)
        }}
      >
        <summary>
          <h2>
            {t(`guide.step.${step}`)} <Tone tone={tones[state]}>{t(`guide.${state}`)}</Tone>
          </h2>
        </summary>
        {isOpen && (
          <>
            {children}
            {next && (
              <div class="buttons">
                <button type="button" class="main" onClick={() => go(next)}>
                  {t('guide.next', { step: t(`guide.step.${next}`) })}
                </button>
              </div>
            )}
          </>
        )}
      </details>
    </li>
  )
}

function Summary({ reports, go }: { reports: readonly StepReport[]; go: (step: Shown) => void }) {
  const left = reports.filter((one) => !isDone(one))
  return (
    <>
      <p class="large">
        <strong>{t(`verdict.${verdict.value?.fitness ?? 'unknown'}`)}</strong>{' '}
        {verdict.value && said(verdict.value.why)}
      </p>
      {verdict.value?.advice && <p>{said(verdict.value.advice)}</p>}
      {left.length === 0 ? (
        <p>{t('guide.allDone')}</p>
      ) : (
        <>
          <h3>{t('guide.left')}</h3>
          <ul class="plain">
            {left.map(({ step, missing }) => (
              <li key={step}>
                {missing.map((one) => t(`guide.missing.${one}`)).join(' ')}{' '}
                <button type="button" onClick={() => go(step)}>
                  {t('guide.to', { step: t(`guide.step.${step}`) })}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      {reports
        .flatMap(({ advice }) => advice)
        .map((one) => (
          <p key={one}>{t(`guide.advice.${one}`)}</p>
        ))}
      <a href="#/status">{t('page.status')}</a>
    </>
  )
}
