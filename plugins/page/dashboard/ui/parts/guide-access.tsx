/** The first step of the guide: one button saves what was entered and opens the next step. */
import { useState } from 'preact/hooks'
import { Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import type { Loaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { t } from '../i18n/index.js'
import { api, type Parameter, session } from '../station/api.js'
import { leastPassword, PasswordForm } from './forms/password-form.js'
import { SecretField, TextField } from './forms/text-field.js'

/** The name of the station, and its password. Both can be left empty. @param props.next label of the button */
export function AccessStep(props: { parameters: Loaded<Parameter[]>; next: string; done: () => void }) {
  const { done, next, parameters } = props
  const stored = parameters.value?.find(({ name }) => name === 'station-name')
  const [name, setName] = useState<string>()
  const [password, setPassword] = useState('')
  const [isShown, setShown] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const [trouble, setTrouble] = useState('')
  const isClosed = session.value?.login === true

  const save = async () => {
    if (stored && name !== undefined && name !== stored.value) {
      const { result, errors = [] } = await api.change({ [stored.name]: name.trim() })
      if (result === 'failed') throw new Error(errors.map(({ message }) => message).join('; '))
      parameters.again()
    }
    if (password !== '') session.value = await api.setPassword({ role: 'operator', password })
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (password !== '' && password.length < leastPassword)
      return setTrouble(t('password.short', { least: leastPassword }))
    setRunning(true)
    try {
      await save()
      done()
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error))
    }
    setRunning(false)
  }
  return (
    <>
      {isClosed && (
        <>
          <p>
            <Tone tone="good">{t('access.closed')}</Tone>
          </p>
          <details>
            <summary>{t('guide.passwordChange')}</summary>
            <PasswordForm of="operator" />
          </details>
        </>
      )}
      <form onSubmit={(event) => void submit(event)} noValidate>
        {stored && (
          <TextField
            label={t('guide.name')}
            value={name ?? String(stored.value ?? '')}
            set={setName}
            help={t('guide.nameHelp')}
          />
        )}
        {!isClosed && (
          <SecretField
            label={t('password.first')}
            value={password}
            set={setPassword}
            help={t('guide.passwordHelp')}
            isShown={isShown}
            show={setShown}
            suggests
          />
        )}
        <p class="trouble" role="alert">
          {trouble}
        </p>
        <div class="buttons">
          <button type="submit" class="main" disabled={isRunning}>
            {isRunning ? t('commands.running') : next}
          </button>
        </div>
      </form>
    </>
  )
}
