import { t } from '../i18n/index.js'
import { api } from '../station/api.js'
import { loginWanted, session } from '../station/session.js'

/** Logs in where the page may be read without it, and out. */
export function SessionButton() {
  const now = session.value
  if (!now?.login) return null
  const logOut = async () => {
    await api.logout().catch(() => {})
    // Nothing of what was shown stays in this page.
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
