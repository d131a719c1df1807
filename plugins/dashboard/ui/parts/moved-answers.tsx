import { Action } from '../../../../runtime/ui/parts/action.js'
import { type Json, numberAt } from '../../../../runtime/ui/station/document.js'
import { figure, t } from '../i18n/index.js'
import { api, Refused } from '../station/api.js'

const tries = 6
const pause_ms = 3_000

/** Just after a move the station has no position to compare with: it is asked again for some seconds. */
async function confirmed(left = tries): Promise<string> {
  try {
    return await api.command('confirm-position')
  } catch (error) {
    if (left <= 1 || !(error instanceof Refused) || error.status !== 503) throw error
    await new Promise((resolve) => setTimeout(resolve, pause_ms))
    return confirmed(left - 1)
  }
}

/** The three answers to "the antenna has moved". */
export function MovedAnswers({ document }: { document: Json }) {
  const distance = numberAt(document, 'gnss.pos.delta')
  return (
    <div class="actions">
      <Action
        label={t('moved.notMoved')}
        caution={<p>{t('moved.notMovedWarning', { distance: figure(distance || undefined, 2, 'm') })}</p>}
        run={() => confirmed()}
      />
      <Action
        label={t('moved.survey')}
        caution={<p>{t('moved.surveyWarning')}</p>}
        run={() => api.command('start-survey-in')}
        isMain
      />
      <a class="button" href="#/positions">
        {t('moved.enter')}
      </a>
    </div>
  )
}
