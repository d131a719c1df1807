/** Above every page: a change on trial; below: the session. */
import { t } from '../i18n/index.js'
import { api, loginWanted, session } from '../station/api.js'
import { at } from '../station/document.js'
import { document$ } from '../station/live.js'

/** A change that may disconnect clients awaits confirmation. Shown on every page. */
export function TrialBar() {
  const trial = at(document$.value, 'base.state.trial') as { parameters: string[]; left_s: number } | undefined
  if (!trial) return null
  // The result is in the document: a trial may end before the command.
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

/** Logs in where the page may be read without it, and out. */
export function SessionButton() {
  const now = session.value
  if (!now?.login) return null
  const logOut = async () => {
    await api.logout().catch(() => {})
    // Removes all shown data from the page.
    location.reload()
  }
  if (now.expires > 0) {
    return (
      <button type="button" onClick={() => void logOut()}>
        {t('login.logout')}
      </button>
    )
  }
  const logIn = () => {
    loginWanted.value = 'chosen'
  }
  return (
    <button type="button" onClick={logIn}>
      {t('login.submit')}
    </button>
  )
}
