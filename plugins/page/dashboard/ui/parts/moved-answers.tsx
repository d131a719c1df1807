import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { type Json, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { t } from '../i18n/index.js'
import { lengthText } from '../i18n/lengths.js'
import { moveOf } from '../model/moved.js'
import { api } from '../station/api.js'
import { document$ } from '../station/live.js'

async function surveyed(isEntered: boolean): Promise<string> {
  if (isEntered) await api.change({ 'gnss-ref-chosen': 'survey' })
  return api.run('start-survey-in')
}

/** The answers to "the antenna has moved". */
export function MovedAnswers({ document }: { document: Json }) {
  const { distance_m, isEntered, isHeight, isSurveying, returns } = moveOf(document)
  const size = distance_m === undefined ? t('moved.noSize') : t('moved.size', { distance: lengthText(distance_m) })
  return (
    <>
      <p>
        {t(isHeight ? 'moved.height' : 'moved.where')} {returns && t('moved.returns')}
      </p>
      <div class="actions">
        {!isHeight && (
          <Action
            label={t('moved.notMoved')}
            caution={
              <p>
                {size} {t('moved.notMovedWarning')}
              </p>
            }
            run={() => api.run('confirm-position')}
          />
        )}
        {!isHeight && !isSurveying && (
          <Action
            label={t('moved.survey')}
            caution={<p>{t('moved.surveyWarning')}</p>}
            run={() => surveyed(isEntered)}
            isMain
          />
        )}
        <a class={isHeight ? 'button main' : 'button'} href="#/positions">
          {t('moved.enter')}
        </a>
      </div>
    </>
  )
}

/** A confirmation that was wrong: the reference is chosen again, and the station judges by itself where the antenna is. */
export function TakeBack() {
  const chosen = textAt(document$.value, 'gnss.ref.chosen')
  return (
    <div class="actions">
      <Action
        label={t('moved.takeBack')}
        caution={<p>{t('moved.takeBackWarning')}</p>}
        run={async () => {
          await api.change({ 'gnss-ref-chosen': chosen })
          return t('moved.takenBack')
        }}
      />
    </div>
  )
}
