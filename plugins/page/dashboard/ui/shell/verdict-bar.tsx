import { Icon } from '../../../../../runtime/lib/page/ui/parts/icon.js'
import { duration, figure, moment, t, word } from '../i18n/index.js'
import { lengthText } from '../i18n/lengths.js'
import { adviceText, whyText } from '../i18n/plugin-texts.js'
import { absoluteOf, moodOf, overrideOf } from '../model/verdict.js'
import { MendReason } from '../parts/faults.js'
import { TakeBack } from '../parts/moved-answers.js'
import { place } from '../place.js'
import { document$, inContact, silent_s, verdict } from '../station/live.js'

/** The verdict: in full on the first page, as a line on the others. Read aloud when it changes, not each second. */
export function VerdictBar() {
  const now = verdict.value
  const document = document$.value
  const isKnown = inContact.value && now !== undefined
  const mood = isKnown ? moodOf(document) : 'unknown'
  const isFirst = place.value.path === 'status'
  return (
    <div class={`verdict verdict-${mood}${mood === 'coarse' ? ' verdict-fit' : ''}${isFirst ? ' verdict-first' : ''}`}>
      <span class="verdict-mark">
        <Icon name={mood} />
      </span>
      <div>
        <p class="verdict-text" role="status" aria-live="polite">
          <strong>{t(`verdict.${mood}`)}</strong>
          {isKnown && <span class="verdict-why">{` ${whyText(now)} `}</span>}
          {isKnown && isFirst && <span class="verdict-advice">{adviceText(now)}</span>}
        </p>
        {isKnown && isFirst && <Accuracy />}
        {isKnown && isFirst && <Override />}
        {!isFirst && (mood === 'unfit' || mood === 'degraded') && <a href="#/status">{t('verdict.more')}</a>}
        {!inContact.value && (
          <p role="alert">{document ? t('app.noContact', { s: silent_s.value }) : t('app.connecting')}</p>
        )}
        {isKnown && isFirst && <MendReason />}
        {isKnown && isFirst && <p class="quiet">{t('verdict.for', { time: duration(now.for_s) })}</p>}
      </div>
    </div>
  )
}

/** A base that is fit may still be shifted as a whole. */
function Accuracy() {
  const absolute = absoluteOf(document$.value)
  if (!absolute) return null
  const acc = figure(absolute.acc_m, absolute.acc_m < 1 ? 2 : 1, 'm')
  if (absolute.isExact) return <p>{t('verdict.exact', { acc })}</p>
  return (
    <p>
      {t('verdict.shifted', { acc })} <a href="#/positions?exact">{t('verdict.makeExact')}</a>
    </p>
  )
}

function Override() {
  const override = overrideOf(document$.value)
  if (!override) return null
  const distance = lengthText(override.distance)
  const by = word('positions.by', override.by)
  return (
    <>
      <p class="tone-warning">{t('verdict.override', { distance, time: moment(override.t), by })}</p>
      <TakeBack />
    </>
  )
}
