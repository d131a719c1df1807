import { ecefToGeodetic, enu } from '../../../../../runtime/lib/gnss/geodesy.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList, Tone, type ToneName } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type Curve, Plot } from '../../../../../runtime/lib/page/ui/parts/plot.js'
import {
  type Json,
  listAt,
  numberAt,
  type StationError,
  textAt,
} from '../../../../../runtime/lib/page/ui/station/document.js'
import { duration, figure, t, word } from '../i18n/index.js'
import { lengthText } from '../i18n/lengths.js'
import { errorText } from '../i18n/plugin-texts.js'
import { geoLink } from '../model/gnss/geodesy.js'
import { liveOf } from '../model/gnss/positions.js'
import { percentOf, plainLimit_m, type SurveyNow, scatterOf, surveyOf } from '../model/gnss/survey.js'
import { forecastOf, purposeOf, roughly } from '../model/gnss/survey-forecast.js'
import { SettingForm } from '../parts/forms/setting-form.js'
import { ScatterPlot } from '../parts/plots/scatter-plot.js'
import { api } from '../station/api.js'
import { curve, document$ } from '../station/live.js'
import { SourceCard } from './source.js'

const loadActions = () => api.actions()
const loadParameters = () => api.parameters()
const tones: Readonly<Record<string, ToneName>> = {
  running: 'waiting',
  complete: 'good',
  incomplete: 'warning',
  // Often a person stopped it; a fault is told beside it.
  aborted: 'idle',
}

/** The survey-in: progress, accuracy, position, and its commands. */
export function SurveyPage() {
  const document = document$.value
  const survey = surveyOf(document)
  if (!document) return <p>{t('app.connecting')}</p>
  if (!survey) return <p>{t('survey.missing')}</p>
  return (
    <>
      <Now survey={survey} document={document} />
      <SourceCard document={document} />
      <AccuracyCurve survey={survey} />
      <Place survey={survey} document={document} />
      <Assumptions survey={survey} document={document} />
    </>
  )
}

function Now({ survey, document }: { survey: SurveyNow; document: Json }) {
  const { state, elapsed_s, mintime_s, count, acc_m, stated_m, target_m } = survey
  const isRunning = state === 'running'
  const percent = percentOf(survey)
  const trouble = listAt<StationError>(document, 'base.state.errors').find(({ code }) => code === 'gnss-survey')
  const isBegun = !isRunning || textAt(document, 'gnss.state.status') === 'survey'
  return (
    <Card title={t('survey.now')}>
      <p class="large">
        <Tone tone={tones[state] ?? 'idle'}>{isBegun ? word('survey.state', state) : t('survey.asked')}</Tone>
      </p>
      {trouble && <p class="trouble">{errorText(trouble)}</p>}
      {isRunning && isBegun && <Prospect survey={survey} percent={percent} />}
      {!isRunning && stated_m !== undefined && state !== 'none' && (
        <p>
          {t('survey.result', { acc: lengthText(stated_m) })} {t(`survey.good.${purposeOf(stated_m)}`)}
        </p>
      )}
      {isRunning && survey.isOutOfReach && (
        <p class="trouble">{t('survey.outOfReach', { target: lengthText(target_m), least: plainLimit_m })}</p>
      )}
      {!isRunning && state !== 'complete' && <p>{t('guide.survey')}</p>}
      {!isRunning && <Limits survey={survey} />}
      <Buttons survey={survey} document={document} />
      {state !== 'none' && (
        <details>
          <summary>{t('survey.figures')}</summary>
          <FigureList
            rows={[
              [t('survey.kind'), t(survey.isCorrected ? 'survey.corrected' : 'survey.plain')],
              [t('survey.elapsed'), t('survey.elapsedOf', { time: duration(elapsed_s), least: duration(mintime_s) })],
              [t('survey.latest'), duration(survey.maxtime_s)],
              [t('survey.count'), figure(count, 0)],
              [t('survey.accuracy'), acc_m === undefined ? '–' : lengthText(acc_m)],
              [t('survey.target'), lengthText(target_m)],
            ]}
          />
        </details>
      )}
      {survey.isCorrected && stated_m !== undefined && stated_m !== acc_m && (
        <p>{t('survey.unvouched', { acc: lengthText(stated_m) })}</p>
      )}
    </Card>
  )
}

/** Limits that end the next survey-in, and a form to change them. */
function Limits({ survey }: { survey: SurveyNow }) {
  const { value: parameters = [], again } = useLoaded(loadParameters)
  const suffix = survey.isCorrected ? '-corr' : ''
  const [time, accuracy] = ['gnss-survey-mintime', `gnss-survey-accuracy${suffix}`].map((wanted) => {
    const value = parameters.find(({ name }) => name === wanted)?.value
    return typeof value === 'number' ? { name: wanted, value } : undefined
  })
  if (!time || !accuracy) return null
  return (
    <details>
      <summary>{t('survey.limits', { time: duration(time.value), acc: lengthText(accuracy.value) })}</summary>
      <SettingForm
        parameters={parameters}
        settings={[
          { name: time.name, label: t('survey.limits.time') },
          {
            name: accuracy.name,
            label: t('survey.limits.acc'),
            help: survey.isCorrected ? '' : t('survey.limits.plain', { least: plainLimit_m }),
          },
        ]}
        save={t('net.save')}
        again={again}
      />
    </details>
  )
}

/** How long still, how accurate it will be, and what that is good for. */
function Prospect({ survey, percent }: { survey: SurveyNow; percent: number }) {
  const forecast = forecastOf(survey)
  const { acc_m, stated_m = 0 } = survey
  // A correction source that nobody vouches for keeps the stated accuracy up.
  const end_m = acc_m !== undefined && stated_m > acc_m ? stated_m : (forecast?.acc_m ?? 0)
  return (
    <>
      <label>
        {t('survey.progress')}: {percent} %
        <progress max={100} value={percent} />
      </label>
      <p class="large">{forecast ? timeLeft(roughly(forecast)) : t('survey.left.unknown')}</p>
      {!forecast && acc_m !== undefined && <p>{t('survey.now.soFar', { now: lengthText(acc_m) })}</p>}
      {forecast && acc_m !== undefined && (
        <p>
          {t('survey.toCome', { now: lengthText(acc_m), end: lengthText(forecast.acc_m) })}{' '}
          {t(`survey.good.${purposeOf(end_m)}`)}
        </p>
      )}
      <p class="quiet">{t('survey.meanwhile')}</p>
    </>
  )
}

/** Round times: without the minutes that are none. */
const about = (seconds: number) => duration(seconds).replace(/(?<= h) 0 min$/, '')

function timeLeft({ from_s, to_s }: { from_s: number; to_s: number }): string {
  if (!Number.isFinite(from_s)) return t('survey.left.never')
  if (!Number.isFinite(to_s)) return t('survey.left.atLeast', { from: about(from_s) })
  if (from_s === 0) return t('survey.left.upTo', { to: about(to_s) })
  return t('survey.left.range', { from: about(from_s), to: about(to_s) })
}

function Buttons({ survey, document }: { survey: SurveyNow; document: Json }) {
  const actions = useLoaded(loadActions).value ?? []
  const has = (name: string) => actions.some((action) => action.name === name)
  const { state, count, isAllowed } = survey
  const isUnfinished = count > 0 && (state === 'running' || (state === 'incomplete' && !isAllowed))
  const isResult = state === 'complete' || (state === 'incomplete' && isAllowed)
  const isChosen = textAt(document, 'gnss.ref.chosen') === 'survey'
  const isServing = textAt(document, 'gnss.state.status') === 'fixed'
  const choose = async () => {
    await api.change({ 'gnss-ref-chosen': 'survey' })
    return t('survey.chosen')
  }
  return (
    <div class="actions">
      {has('start-survey-in') && state !== 'running' && (
        <Action
          label={t('survey.start')}
          // Nothing is sent before a first one: nothing to warn of.
          caution={isServing && <p>{t('survey.startWarning')}</p>}
          run={() => api.run('start-survey-in')}
          isMain
        />
      )}
      {has('stop-survey-in') && state === 'running' && (
        <Action
          label={t('survey.stop')}
          caution={<p>{t('survey.stopWarning')}</p>}
          run={async () => {
            await api.run('stop-survey-in')
            return t('survey.stopped')
          }}
        />
      )}
      {has('use-incomplete-survey-in') && isUnfinished && (
        <Action
          label={t('survey.use')}
          caution={
            <>
              <p>{t('survey.useWarning', { acc: lengthText(survey.stated_m ?? 0) })}</p>
              <p>{t(`survey.good.${purposeOf(survey.stated_m ?? 1)}`)}</p>
            </>
          }
          run={async () => {
            await api.run('use-incomplete-survey-in')
            return t('survey.used')
          }}
        />
      )}
      {isResult && !isChosen && (
        <Action label={t('survey.use')} caution={<p>{t('survey.chooseWarning')}</p>} run={choose} />
      )}
      {isResult && isChosen && <p class="quiet">{t('survey.inUse')}</p>}
    </div>
  )
}

function AccuracyCurve({ survey }: { survey: SurveyNow }) {
  const points = curve.value
  // Before the first epoch the curve is that of the survey-in before.
  const isOld = survey.state === 'running' && survey.count === 0
  if (points.length < 2 || isOld) return null
  const digits = survey.target_m < 1 ? 3 : 1
  const curves: Curve[] = [
    {
      label: t('survey.accuracy'),
      values: points.map(({ acc }) => acc),
      unit: 'm',
      digits,
      colour: 'main',
    },
    { label: t('survey.target'), values: points.map(() => survey.target_m), unit: 'm', digits, colour: 'fit' },
  ]
  return (
    <Card title={t('survey.curve')}>
      <Plot title={t('survey.curveText')} times={points.map(({ t }) => t)} curves={curves} kind="elapsed" isLog />
    </Card>
  )
}

function Place({ survey, document }: { survey: SurveyNow; document: Json }) {
  const { mean, stated_m = 0 } = survey
  if (!mean) return null
  const { lat, lon, alt } = ecefToGeodetic(mean)
  const points = curve.value
  const now = liveOf(document)
  const live = now && enu(mean, now)
  return (
    <Card title={t('survey.place')}>
      <div class="beside">
        {points.length > 0 && (
          <figure class="plot">
            <ScatterPlot scatter={scatterOf(points, mean, stated_m)} acc_m={stated_m} live={live} />
            <ul class="legend">
              <li>
                <Key d="M14 4h0" name="dots" /> {t('survey.keyDots')}
              </li>
              <li>
                <Key d="M8 4H20M14 -2V10" name="mean" /> {t('survey.keyMean')}
              </li>
              <li>
                <Key d="M14 -2l6 6l-6 6l-6 -6Z" name="live" /> {t('survey.keyLive')}
              </li>
              <li>
                <Key d="M2 4a12 6 0 1 0 24 0a12 6 0 1 0 -24 0Z" name="accuracy" /> {t('survey.keyCircle')}
              </li>
            </ul>
          </figure>
        )}
        <FigureList
          rows={[
            [t('survey.lat'), `${lat.toFixed(8)}°`],
            [t('survey.lon'), `${lon.toFixed(8)}°`],
            [t('survey.alt'), figure(alt, 3, 'm')],
            ['X', `${mean.x.toFixed(3)} m`],
            ['Y', `${mean.y.toFixed(3)} m`],
            ['Z', `${mean.z.toFixed(3)} m`],
            [
              t('survey.frame'),
              [textAt(document, 'gnss.ref.survey.frame'), textAt(document, 'gnss.ref.survey.epoch')].join(' ').trim(),
            ],
            [t('survey.fromMean'), live && figure(Math.hypot(live.east, live.north, live.up), 2, 'm')],
            [
              t('survey.map'),
              <a key="map" class="target" href={geoLink(mean)}>
                {t('survey.openMap')}
              </a>,
            ],
          ]}
        />
      </div>
    </Card>
  )
}

const Key = ({ d, name }: { d: string; name: string }) => (
  <svg class="swatch" viewBox="0 -4 28 16" aria-hidden="true">
    <path class={name} d={d} />
  </svg>
)

/** Meaning and assumptions of the stated accuracy. */
function Assumptions({ survey, document }: { survey: SurveyNow; document: Json }) {
  const remote = textAt(document, 'gnss.ref.survey.rtcm.remote')
  const dist = numberAt(document, 'gnss.ref.survey.rtcm.dist') ?? 0
  const lines = survey.isCorrected
    ? [
        t('survey.assume.remote', { remote: remote || '–', km: figure(dist / 1_000, 1) }),
        t('survey.assume.twice'),
        t('survey.assume.vouch'),
      ]
    : [t('survey.assume.floor', { least: plainLimit_m }), t('survey.assume.time'), t('survey.assume.phase')]
  return (
    <Card title={t('survey.assume.title')}>
      <p>{t('survey.assume.sigma')}</p>
      <ul class="plain">
        {[...lines, t('survey.assume.still')].map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </Card>
  )
}
