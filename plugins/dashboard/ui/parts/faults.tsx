import type { Json, StationError } from '../../../../runtime/ui/station/document.js'
import { moment, t } from '../i18n/index.js'
import { errorText, movedText } from '../i18n/plugin-texts.js'
import { pageOf } from '../model/error-pages.js'
import { isMoved } from '../model/moved.js'
import { verdict } from '../station/live.js'
import { MovedAnswers } from './moved-answers.js'

/** What is wrong, since when, and the page to fix it. A moved antenna is answered here. */
export function FaultList({ errors, document }: { errors: readonly StationError[]; document: Json }) {
  return (
    <ul class="list">
      {errors.map((error) => {
        const { code, t: since } = error
        return (
          <li key={code} class="command">
            <p>{isMoved(code) ? movedText(error, verdict.value) : errorText(error)}</p>
            <p class="quiet">{since > 0 && t('errors.since', { time: moment(since) })}</p>
            <Mend code={code} document={document} />
          </li>
        )
      })}
    </ul>
  )
}

/** What can be done about an error, here or on its page. */
export function Mend({ code, document }: { code: string; document: Json }) {
  if (isMoved(code)) return <MovedAnswers document={document} />
  const page = pageOf(code)
  return page ? (
    <a class="target" href={`#/${page}`}>
      {t('errors.mend', { page: t(`page.${page}`) })}
    </a>
  ) : null
}
