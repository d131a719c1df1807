import { Action } from '../../../../runtime/ui/parts/action.js'
import { type Json, numberAt } from '../../../../runtime/ui/station/document.js'
import { figure, t } from '../i18n/index.js'
import { api } from '../station/api.js'

/** The three answers to "the antenna has moved". */
export function MovedAnswers({ document }: { document: Json }) {
  const distance = numberAt(document, 'gnss.pos.delta')
  return (
    <div class="actions">
      <Action
        label={t('moved.notMoved')}
        caution={<p>{t('moved.notMovedWarning', { distance: figure(distance || undefined, 2, 'm') })}</p>}
        run={() => api.command('confirm-position')}
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
