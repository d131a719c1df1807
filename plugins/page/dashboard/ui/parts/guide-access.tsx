/** The first step of the guide: one button saves what was entered and opens the next step. */
import { useState } from 'preact/hooks'
import { Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import type { Loaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { t } from '../i18n/index.js'
import { newPassword } from '../model/password.js'
import { api, type Parameter, session } from '../station/api.js'
import { leastPassword, PasswordForm } from './forms/password-form.js'

/** The name of the station, and its password. Both can be left empty. @param props.next label of the button */
export function AccessStep(props: { parameters: Loaded<Parameter[]>; next: string; done: () => void }) {
  const { done, next, parameters } = props
  const stored = parameters.value?.find(({ name }) => name === 'station-name')
  const [name, setName] = useState<string>()
  const [password, setPassword] = useState('')
  const [isChecked, setChecked] = useState(false)
  const isClosed = session.value?.login === true

  const submission = useSubmit(async () => {
    if (stored && name !== undefined && name !== stored.value) {
      await api.change({ [stored.name]: name.trim() })
      await parameters.again()
    }
    if (password !== '') session.value = await api.setPassword({ role: 'operator', password })
    done()
    return ''
  })
  const isShort = password !== '' && password.length < leastPassword
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
      <Form submission={submission} label={next} isWrong={isShort} attempted={() => setChecked(true)}>
        {stored && (
          <Field
            label={t('guide.name')}
            value={name ?? String(stored.value ?? '')}
            set={setName}
            help={t('guide.nameHelp')}
          />
        )}
        {!isClosed && (
          <Field
            kind="secret"
            label={t('password.first')}
            value={password}
            set={setPassword}
            help={t('guide.passwordHelp')}
            trouble={isChecked && isShort ? t('password.short', { least: leastPassword }) : ''}
            generate={newPassword}
          />
        )}
      </Form>
    </>
  )
}
