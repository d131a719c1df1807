import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Tone, type ToneName } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import type { Json } from '../../../../../runtime/lib/page/ui/station/document.js'
import { t } from '../i18n/index.js'
import { adviceText, whyText } from '../i18n/plugin-texts.js'
import { type GuideStep, guideOf, guideSteps, type StepReport, type StepState, stepState } from '../model/guide.js'
import { moodOf } from '../model/verdict.js'
import { AccessStep } from '../parts/guide-access.js'
import { foundText } from '../parts/guide-found.js'
import { AntennaStep, NetworkStep, OutputsStep, PositionStep } from '../parts/guide-steps.js'
import { place } from '../place.js'
import { api, session } from '../station/api.js'
import { document$, satellites, verdict } from '../station/live.js'

const loadParameters = () => api.parameters()
const isStep = (text: string): text is GuideStep => (guideSteps as readonly string[]).includes(text)

/** The set-up guide. Its progress is derived from the station's state, and the open step is in the address: it can be left and resumed. */
export function GuidePage() {
  const document = document$.value
  // Which step is open depends on whether a password is set.
  if (!document || !session.value) return <p>{t('app.connecting')}</p>
  return <Steps document={document} />
}

function Steps({ document }: { document: Json }) {
  const reports = guideOf({ document, satellites: satellites.value, hasLogin: session.value?.login })
  const asked = place.value.query.get('step') ?? ''
  // Chosen once: a step does not close while it is being read.
  const [open, setOpen] = useState<GuideStep | undefined>(() => (isStep(asked) ? asked : firstOpen(reports)))
  const parameters = useLoaded(loadParameters)
  const list = useRef<HTMLOListElement>(null)
  const isMoved = useRef(false)
  const go = (step: GuideStep | undefined) => {
    isMoved.current = true
    setOpen(step)
    // Not a new entry of the browser's history: back leaves the guide.
    history.replaceState(null, '', step ? `#/guide?step=${step}` : '#/guide')
  }
  useEffect(() => {
    if (isMoved.current) list.current?.querySelector<HTMLElement>('details[open] > summary')?.focus()
  }, [open])

  const bodies: Readonly<Record<GuideStep, () => ComponentChildren>> = {
    access: () => <AccessStep parameters={parameters} next={nextText('antenna')} done={() => go('antenna')} />,
    antenna: () => <AntennaStep document={document} />,
    position: () => <PositionStep document={document} />,
    outputs: () => <OutputsStep document={document} parameters={parameters} />,
    network: () => (
      <>
        <NetworkStep document={document} />
        <Summary reports={reports} go={go} />
      </>
    ),
  }
  return (
    <>
      <p>{t('guide.intro')}</p>
      <p>
        <label>
          {t('guide.progress', { done: reports.filter(isDone).length, all: reports.length })}
          <progress max={reports.length} value={reports.filter(isDone).length} />
        </label>
      </p>
      <ol class="guide" ref={list}>
        {reports.map((report, at) => {
          const { step, missing, advice } = report
          const state = stepState(report)
          return (
            <Step
              key={step}
              step={step}
              number={at + 1}
              isOpen={open === step}
              state={state}
              found={missing.length === 0 ? foundText(step, document) : ''}
              go={go}
            >
              {missing.map((one) => (
                <p key={one} class={state === 'open' ? 'trouble' : ''}>
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
      </ol>
    </>
  )
}

const nextText = (step: GuideStep) => t('guide.next', { step: t(`guide.step.${step}`) })
const isDone = ({ missing }: StepReport) => missing.length === 0
/** Steps that a person has to do come before those that the station does by itself. */
const firstOpen = (reports: readonly StepReport[]): GuideStep =>
  (reports.find((one) => stepState(one) === 'open') ?? reports.find((one) => !isDone(one)))?.step ?? 'network'
const tones: Readonly<Record<StepState, ToneName>> = {
  done: 'good',
  better: 'good',
  waiting: 'waiting',
  open: 'warning',
}

function Step(props: {
  step: GuideStep
  number: number
  isOpen: boolean
  state: StepState
  /** Finding of the station for this step; '' while the step is not done. */
  found: string
  go: (step: GuideStep | undefined) => void
  children: ComponentChildren
}) {
  const { children, found, go, isOpen, number, state, step } = props
  const next = guideSteps[number]
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
            {number}. {t(`guide.step.${step}`)} <Tone tone={tones[state]}>{t(`guide.${state}`)}</Tone>
            {found && <span class="guide-found">{found}</span>}
          </h2>
        </summary>
        {isOpen && (
          <>
            {children}
            {next && step !== 'access' && (
              <div class="buttons">
                <button
                  type="button"
                  class={state === 'done' || state === 'better' ? 'main' : ''}
                  onClick={() => go(next)}
                >
                  {nextText(next)}
                </button>
              </div>
            )}
          </>
        )}
      </details>
    </li>
  )
}

function Summary({ reports, go }: { reports: readonly StepReport[]; go: (step: GuideStep) => void }) {
  const left = reports.filter((one) => stepState(one) !== 'done')
  return (
    <>
      <h3>{t('guide.step.summary')}</h3>
      <p class="large">
        <strong>{t(`verdict.${moodOf(document$.value)}`)}</strong> {verdict.value && whyText(verdict.value)}
      </p>
      {verdict.value && <p>{adviceText(verdict.value)}</p>}
      {left.length === 0 && <p>{t('guide.allDone')}</p>}
      <ul class="list">
        {left.map(({ step, missing, advice }) => (
          <li key={step} class="command">
            <p>
              {[
                ...missing.map((one) => t(`guide.missing.${one}`)),
                ...advice.map((one) => t(`guide.advice.${one}`)),
              ].join(' ')}
            </p>
            <button type="button" onClick={() => go(step)}>
              {t('guide.to', { step: t(`guide.step.${step}`) })}
            </button>
          </li>
        ))}
      </ul>
      <a class={left.length === 0 ? 'button main' : 'button'} href="#/status">
        {t('guide.finish')}
      </a>
    </>
  )
}
