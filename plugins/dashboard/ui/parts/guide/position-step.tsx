import { figure, t, word } from '../../i18n/index.js'
import { toGeodetic } from '../../model/geodesy.js'
import { referenceOf } from '../../model/positions.js'
import { hasReference } from '../../model/set-up.js'
import { percentOf, surveyOf } from '../../model/survey.js'
import { type Json, numberAt } from '../../station/document.js'
import { FigureList } from '../figure-list.js'
import { PositionForm } from '../position-form.js'

/** The reference position: surveyed by the station, or entered. */
export function PositionStep({ document }: { document: Json }) {
  const reference = hasReference(document) ? referenceOf(document) : undefined
  const survey = surveyOf(document)
  const place = reference && toGeodetic(reference)
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
          ]}
        />
      )}
      {survey && (
        <>
          <h3>{t('page.survey')}</h3>
          <p>{t('guide.survey')}</p>
          <p>
            {word('survey.state', survey.state)}
            {survey.state === 'running' && ` (${percentOf(survey)} %)`} <a href="#/survey">{t('guide.toSurvey')}</a>
          </p>
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
