import { useState } from 'preact/hooks'
import { t } from '../../i18n/index.js'
import { api, type LoginRole, Refused, session } from '../../station/api.js'
import { hello } from '../../station/live.js'

const least = 8
/** Letters and digits that are not mixed up when read aloud. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Twelve characters in groups of four: 60 bits. */
export function newPassword(): string {
  // 256 is a multiple of 32: every letter is as likely.
  const letters = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => alphabet[byte % alphabet.length])
  return [letters.slice(0, 4), letters.slice(4, 8), letters.slice(8)].map((part) => part.join('')).join('-')
}

/** Sets, changes or removes the password of a role. Every other session of the station ends. */
export function PasswordForm({ of: role, done }: { of: LoginRole; done?: () => void }) {
  const [password, setPassword] = useState('')
  const [old, setOld] = useState('')
  const [isShown, setShown] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const [answer, setAnswer] = useState({ text: '', isTrouble: false })
  const needsOld = session.value?.login === true
  const isSet = session.value?.passwords?.[role] === true
  const send = async (value: string | null) => {
    setRunning(true)
    try {
      session.value = await api.setPassword({ role, password: value, ...(needsOld && { old }) })
      setAnswer({ text: t(value === null ? 'password.removed' : 'password.saved'), isTrouble: false })
      setPassword('')
      setOld('')
      done?.()
    } catch (error) {
      const text = error instanceof Refused && error.status === 403 ? t('password.wrongOld') : String(error)
      setAnswer({ text: error instanceof Refused && error.status !== 403 ? error.message : text, isTrouble: true })
    }
    setRunning(false)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (password.length < least) setAnswer({ text: t('password.short', { least }), isTrouble: true })
    else void send(password)
  }
  // Preact's types tie attributes to one literal type.
  const type = (isShown ? 'text' : 'password') as 'password'
  const id = `password-${role}`
  return (
    <form onSubmit={submit}>
      {needsOld && (
        <label>
          {t('password.old')}
          <input
            type={type}
            autocomplete="current-password"
            value={old}
            onInput={({ currentTarget }) => setOld(currentTarget.value)}
          />
        </label>
      )}
      <label for={id}>{t(isSet ? 'password.new' : 'password.first')}</label>
      <input
        id={id}
        type={type}
        autocomplete="new-password"
        maxLength={128}
        value={password}
        onInput={({ currentTarget }) => setPassword(currentTarget.value)}
      />
      <label class="switch">
        <input type="checkbox" checked={isShown} onChange={({ currentTarget }) => setShown(currentTarget.checked)} />
        {t('password.show')}
      </label>
      <div class="buttons">
        <button
          type="button"
          onClick={() => {
            setPassword(newPassword())
            setShown(true)
          }}
        >
          {t('password.make')}
        </button>
        {isSet && (
          <button type="button" disabled={isRunning} onClick={() => void send(null)}>
            {t('password.remove')}
          </button>
        )}
        <button type="submit" class="main" disabled={isRunning || hello.value?.role === 'viewer'}>
          {t(isRunning ? 'commands.running' : 'password.set')}
        </button>
      </div>
      <p class={answer.isTrouble ? 'trouble' : 'quiet'} role="status">
        {answer.text}
      </p>
    </form>
  )
}
