import { useEffect, useRef, useState } from 'preact/hooks'
import { Tone } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { t } from '../../i18n/index.js'
import { api, type LoginRole, Refused, session } from '../../station/api.js'
import { hello } from '../../station/live.js'
import { SecretField } from './text-field.js'

export const leastPassword = 8

/** Sets, changes or removes the password of a role. Every other session of the station ends. */
export function PasswordForm({ of: role, done }: { of: LoginRole; done?: () => void }) {
  const [password, setPassword] = useState('')
  const [old, setOld] = useState('')
  const [isShown, setShown] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const [answer, setAnswer] = useState({ text: '', isTrouble: false })
  const shown = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    if (answer.text !== '') shown.current?.scrollIntoView({ block: 'center' })
  }, [answer])
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
    if (password.length < leastPassword)
      setAnswer({ text: t('password.short', { least: leastPassword }), isTrouble: true })
    else void send(password)
  }
  // Preact's types tie attributes to one literal type.
  const type = (isShown ? 'text' : 'password') as 'password'
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
      <SecretField
        label={t(isSet ? 'password.new' : 'password.first')}
        value={password}
        set={setPassword}
        isShown={isShown}
        show={setShown}
        suggests
      />
      <div class="buttons">
        <button type="submit" class="main" disabled={isRunning || hello.value?.role === 'viewer'}>
          {t(isRunning ? 'commands.running' : 'password.set')}
        </button>
      </div>
      <p class={answer.isTrouble ? 'trouble' : ''} role="status" ref={shown}>
        {answer.isTrouble || answer.text === '' ? answer.text : <Tone tone="good">{answer.text}</Tone>}
      </p>
      {isSet && (
        <details>
          <summary>{t('password.removeTitle')}</summary>
          <p>{t(`password.removeText.${role}`)}</p>
          <button type="button" disabled={isRunning} onClick={() => void send(null)}>
            {t('password.remove')}
          </button>
        </details>
      )}
    </form>
  )
}
