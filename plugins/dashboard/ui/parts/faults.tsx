import { moment, sentence, t } from '../i18n/index.js'
import { pageOf } from '../model/errors.js'
import type { Json, StationError } from '../station/document.js'
import { MovedAnswers } from './moved-answers.js'

/** What is wrong, since when, and the page to fix it. A moved antenna is answered here. */
export function FaultList({ errors, document }: { errors: readonly StationError[]; document: Json }) {
  return (
    <ul class="list">
      {errors.map(({ code, text, t: since }) => {
        const page = pageOf(code)
        return (
          <li key={code} class="command">
            <p>{sentence(text)}</p>
            <p class="quiet">
              {since > 0 && t('errors.since', { time: moment(since) })}{' '}
              {page && code !== 'gnss-moved' && (
                <a class="target" href={`#/${page}`}>
                  {t('errors.mend')}
                </a>
              )}
            </p>
            {code === 'gnss-moved' && <MovedAnswers document={document} />}
          </li>
        )
      })}
    </ul>
  )
}
