import { errorsOf, type Json, type StationError } from '../../../../../runtime/lib/page/ui/station/document.js'
import { moment, t } from '../i18n/index.js'
import { errorText, movedText } from '../i18n/plugin-texts.js'
import { pageOf, settingIn } from '../model/error-pages.js'
import { isMoved } from '../model/moved.js'
import { document$, verdict } from '../station/live.js'
import { MovedAnswers } from './moved-answers.js'

/** Faults, since when they last, and the page to fix each. A moved antenna is answered here. */
export function FaultList({ errors, document }: { errors: readonly StationError[]; document: Json }) {
  return (
    <ul class="list">
      {errors.map((error) => {
        const { code, t: since } = error
        return (
          <li key={code} class="command">
            <p>{isMoved(code) ? movedText(error, verdict.value) : errorText(error)}</p>
            <p class="quiet">{since > 0 && t('errors.since', { time: moment(since) })}</p>
            <Mend code={code} setting={settingIn(error.values)} document={document} />
          </li>
        )
      })}
    </ul>
  )
}

/** Remedy of an error, here or on its page. */
export function Mend({ code, setting, document }: { code: string; setting: string | undefined; document: Json }) {
  if (isMoved(code)) return <MovedAnswers document={document} />
  if (setting) {
    return (
      <a class="target" href={`#/settings?find=${encodeURIComponent(setting)}`}>
        {t('errors.setting')}
      </a>
    )
  }
  const page = pageOf(code)
  return page ? (
    <a class="target" href={`#/${page}`}>
      {t('errors.mend', { page: t(`page.${page}`) })}
    </a>
  ) : null
}

/** Remedy of the verdict's reason: an error, a move, or a reason that only the verdict gives. */
export function MendReason() {
  const document = document$.value
  const { code = '', why_code = code, values } = verdict.value ?? {}
  const isError = errorsOf(document).some((error) => error.code === why_code)
  return document ? (
    <Mend code={isError || !isMoved(code) ? why_code : code} setting={settingIn(values)} document={document} />
  ) : null
}
