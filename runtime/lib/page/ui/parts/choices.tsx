import { loginWanted, session, sessions } from '../http.js'
import { type Language, language, languages, setLanguage, t } from '../i18n.js'
import { setTheme, type Theme, theme, themes } from '../theme.js'

/** Below every page: theme, language, and the login. @param props.text which service and version this is */
export function Choices({ text }: { text: string }) {
  return (
    <footer class="choices">
      <span>{text}</span>
      <label>
        {t('app.theme')}
        <select value={theme.value} onChange={({ currentTarget }) => setTheme(currentTarget.value as Theme)}>
          {themes.map((one) => (
            <option key={one} value={one}>
              {t(`app.theme.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('app.language')}
        <select
          value={language.value}
          onChange={({ currentTarget }) => void setLanguage(currentTarget.value as Language)}
        >
          {Object.entries(languages).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <SessionButton />
    </footer>
  )
}

/** Logs in where the page may be read without it, and out. */
function SessionButton() {
  const now = session.value
  if (!now?.login) return null
  const logOut = async () => {
    await sessions.logout().catch(() => {})
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
