import { t } from '../i18n/index.js'
import { api } from '../station/api.js'
import { at } from '../station/document.js'
import { document$ } from '../station/live.js'

/** A change that may have cut somebody off waits to be confirmed. On every page. */
export function TrialBar() {
  const trial = at(document$.value, 'base.state.trial') as { parameters: string[]; left_s: number } | undefined
  if (!trial) return null
  // What becomes of it is in the document: a trial may be over before the button is.
  const end = (command: string) => void api.command(command).catch(() => {})
  return (
    <p class="notice" role="alert">
      {t('trial.text', { names: trial.parameters.join(', '), s: trial.left_s })}{' '}
      <button type="button" class="main" onClick={() => end('confirm-change')}>
        {t('trial.keep')}
      </button>{' '}
      <button type="button" onClick={() => end('undo-change')}>
        {t('trial.undo')}
      </button>
    </p>
  )
}
