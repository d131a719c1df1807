import { duration, said, t } from '../i18n/index.js'
import { document$, inContact, silent_s, verdict } from '../station/live.js'

const marks = { fit: '✓', degraded: '!', unfit: '✕', unknown: '?' } as const

/** The verdict, on top of every page. Read aloud when it changes, not each second. */
export function VerdictBar() {
  const now = verdict.value
  const isKnown = inContact.value && now !== undefined
  const fitness = isKnown ? now.fitness : 'unknown'
  return (
    <div class={`verdict verdict-${fitness}`}>
      <span class="verdict-mark" aria-hidden="true">
        {marks[fitness]}
      </span>
      <div>
        <p class="verdict-text" role="status" aria-live="polite">
          <strong>{t(`verdict.${fitness}`)}</strong>
          {isKnown && <span class="verdict-why">{` ${said(now.why)}${now.advice ? '; ' : '.'}`}</span>}
          {isKnown && now.advice && <span class="verdict-advice">{`${said(now.advice)}.`}</span>}
        </p>
        {!inContact.value && (
          <p role="alert">{document$.value ? t('app.noContact', { s: silent_s.value }) : t('app.connecting')}</p>
        )}
        {isKnown && <p class="quiet">{t('verdict.for', { time: duration(now.for_s) })}</p>}
      </div>
    </div>
  )
}
