import { useState } from 'preact/hooks'
import { t } from '../i18n/index.js'
import { api, Refused } from '../station/api.js'
import { listen } from '../station/live.js'

/** Asks for the token. It is exchanged for a cookie and kept nowhere here. */
export function Login() {
  const [token, setToken] = useState('')
  const [isShown, setShown] = useState(false)
  const [trouble, setTrouble] = useState('')
  const submit = async (event: Event) => {
    event.preventDefault()
    try {
      await api.login(token)
      setToken('')
      setTrouble('')
      listen()
    } catch (error) {
      setTrouble(error instanceof Refused ? `${error.message} ${error.help}` : String(error))
    }
  }
  return (
    <main id="content" class="narrow">
      <h1 tabIndex={-1}>{t('login.title')}</h1>
      <form class="card" onSubmit={submit}>
        <label for="token">{t('login.token')}</label>
        <input
          id="token"
          // Preact's types tie attributes to one literal type.
          type={(isShown ? 'text' : 'password') as 'password'}
          autocomplete="current-password"
          value={token}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
          aria-describedby="token-trouble"
        />
        <label class="switch">
          <input type="checkbox" checked={isShown} onChange={({ currentTarget }) => setShown(currentTarget.checked)} />
          {t('login.show')}
        </label>
        <p id="token-trouble" class="trouble" role="alert">
          {trouble}
        </p>
        <button type="submit" class="main">
          {t('login.submit')}
        </button>
      </form>
    </main>
  )
}
