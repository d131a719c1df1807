/** The steps of the guide. */

import { ecefToGeodetic } from '../../../../../runtime/lib/gnss/geodesy.js'
import { FigureList, Tone, type ToneName } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { type Loaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type Json, numberAt, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { type OutputFact, outputsOf } from '../../../../../runtime/lib/page/ui/station/outputs.js'
import { figure, t, word } from '../i18n/index.js'
import { referenceOf } from '../model/gnss/positions.js'
import { percentOf, surveyOf } from '../model/gnss/survey.js'
import { meanCno, networksOf, positionLevel } from '../model/guide.js'
import type { Parameter } from '../station/api.js'
import { satellites } from '../station/live.js'
import { ParameterForm } from './forms/parameter-form.js'
import { PositionForm } from './forms/position-form.js'

/** The settings of a step, as the page of the settings has them; nothing where no plugin has one of them. */
export function StepFields({ parameters, names }: { parameters: Loaded<Parameter[]>; names: RegExp }) {
  return (
    <Waiting of={parameters}>
      {(all) => {
        const own = all.filter(({ name }) => names.test(name))
        if (own.length === 0) return null
        return (
          <details>
            <summary>{t('guide.change')}</summary>
            <ParameterForm parameters={own} again={parameters.again} />
          </details>
        )
      }}
    </Waiting>
  )
}

/** The antenna as reported by the receiver. */
export function AntennaStep({ document }: { document: Json }) {
  const status = textAt(document, 'gnss.state.antenna.status')
  const used = numberAt(document, 'gnss.state.satuse')
  return (
    <>
      <p>{t('guide.antenna')}</p>
      <FigureList
        rows={[
          [t('sky.antenna'), status && word('sky.antennaState', status)],
          [t('chain.receiver'), textAt(document, 'gnss.receiver.model')],
          [t('status.satellites'), used !== undefined && `${used} / ${numberAt(document, 'gnss.state.satvis') ?? 0}`],
          [t('guide.cno'), figure(meanCno(satellites.value), 1, 'dB-Hz')],
          [t('status.fix'), word('fact', textAt(document, 'gnss.state.gps_fix'))],
        ]}
      />
      <a href="#/sky">{t('page.sky')}</a>
    </>
  )
}

/** The reference position: surveyed by the station, or entered. */
export function PositionStep({ document }: { document: Json }) {
  const reference = referenceOf(document)
  const survey = surveyOf(document)
  const place = reference && ecefToGeodetic(reference)
  const method = reference?.method === 'manual' ? 'manual' : 'survey'
  return (
    <>
      <p>{t('guide.position')}</p>
      {place && (
        <FigureList
          rows={[
            [
              t(`positions.method.${method}`),
              `${place.lat.toFixed(8)}°, ${place.lon.toFixed(8)}°, ${figure(place.alt, 3, 'm')}`,
            ],
            [t('positions.acc'), figure(numberAt(document, `gnss.ref.${method}.acc`), 3, 'm')],
            [t('guide.level'), t(`guide.level.${positionLevel(document)}`)],
          ]}
        />
      )}
      {place && positionLevel(document) !== 'absolute' && (
        <a class="button" href="#/positions?exact">
          {t('guide.toExact')}
        </a>
      )}
      {survey && (
        <>
          <h3>{t('page.survey')}</h3>
          <p>{t('guide.survey')}</p>
          <p>
            <Tone tone={survey.state === 'complete' ? 'good' : survey.state === 'running' ? 'waiting' : 'idle'}>
              {word('survey.state', survey.state)}
              {survey.state === 'running' && ` (${percentOf(survey)} %)`}
            </Tone>
          </p>
          <a class="button" href="#/survey">
            {t('guide.toSurvey')}
          </a>
          <details>
            <summary>{t('positions.enter')}</summary>
            <p>{t('positions.enterHint')}</p>
            <PositionForm done={() => {}} />
          </details>
        </>
      )}
    </>
  )
}

/** How the station is reached. */
export function NetworkStep({ document }: { document: Json }) {
  const networks = networksOf(document)
  return (
    <>
      {networks.length === 0 && <p>{t('guide.noNetwork')}</p>}
      <ul class="plain">
        {networks.map(({ network, isUp, text }) => (
          <li key={network}>
            {t(`network.${network}`)} {text}{' '}
            <Tone tone={isUp ? 'good' : 'idle'}>{t(isUp ? 'guide.state.on' : 'guide.state.off')}</Tone>
          </li>
        ))}
      </ul>
      <a class="button" href="#/network">
        {t('guide.toNetwork')}
      </a>
    </>
  )
}

const tones: Readonly<Record<OutputFact['state'], ToneName>> = { on: 'good', down: 'broken', off: 'idle' }
/** Outputs with a switch and a number; casters with logins have a page of their own. */
const outputNames = /^(udp-|ntrip-caster-(en|port|mount)|mqtt-(en|host|port)$)/

/** By which ways rovers get the corrections. */
export function OutputsStep({ document, parameters }: { document: Json; parameters: Loaded<Parameter[]> }) {
  return (
    <>
      <p>{t('guide.outputs')}</p>
      <ul class="plain">
        {outputsOf(document).map(({ output, state }) => (
          <li key={output}>
            {t(`guide.output.${output}`)} <Tone tone={tones[state]}>{t(`guide.state.${state}`)}</Tone>
          </li>
        ))}
      </ul>
      <a class="button" href="#/links">
        {t('guide.toOutputs')}
      </a>
      <StepFields parameters={parameters} names={outputNames} />
    </>
  )
}
