import { useEffect, useRef, useState } from 'preact/hooks'
import { loginWanted, Refused, sessions } from '../http.js'
import { t } from '../i18n.js'
import type { SharedKey } from '../texts/en.js'

const texts: Readonly<Record<number, SharedKey>> = { 401: 'login.wrong', 429: 'login.tooMany' }

function textOf(error: unknown): string {
  if (!(error instanceof Refused)) return String(error)
  const key = texts[error.status]
  return key ? t(key) : error.message
}

/** Asks for the token. It is exchanged for a cookie and kept nowhere here. @param props.isEnded there was a session before */
export function Login({ isEnded, done }: { isEnded: boolean; done: () => void }) {
  const [token, setToken] = useState('')
  const [isShown, setShown] = useState(false)
  const [trouble, setTrouble] = useState('')
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const back = () => {
    loginWanted.value = ''
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    try {
      await sessions.login(token)
      setToken('')
      setTrouble('')
      done()
    } catch (error) {
      setTrouble(textOf(error))
    }
  }
  return (
    <main class="narrow">
      <h1 ref={heading} tabIndex={-1}>
        {t('login.title')}
      </h1>
      {isEnded && loginWanted.value === 'needed' && <p role="alert">{t('login.ended')}</p>}
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
        <div class="buttons">
          {loginWanted.value === 'chosen' && (
            <button type="button" onClick={back}>
              {t('confirm.no')}
            </button>
          )}
          <button type="submit" class="main">
            {t('login.submit')}
          </button>
        </div>
      </form>
    </main>
  )
}
