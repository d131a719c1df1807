import { useState } from 'preact/hooks'
import { Action } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { Field } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { t } from '../../i18n/index.js'
import { newPassword } from '../../model/password.js'
import { api, type LoginRole, Refused, session } from '../../station/api.js'

export const leastPassword = 8

/** Sets, changes or removes the password of a role. Every other session of the station ends. */
export function PasswordForm({ of: role, done }: { of: LoginRole; done?: () => void }) {
  const [password, setPassword] = useState('')
  const [old, setOld] = useState('')
  const needsOld = session.value?.login === true
  const isSet = session.value?.passwords?.[role] === true
  const [isChecked, setChecked] = useState(false)
  const change = async (value: string | null) => {
    session.value = await api
      .setPassword({ role, password: value, ...(needsOld && { old }) })
      .catch((error: unknown) => {
        throw error instanceof Refused && error.status === 403 ? new Error(t('password.wrongOld')) : error
      })
    setPassword('')
    setOld('')
    setChecked(false)
    done?.()
    return t(value === null ? 'password.removed' : 'password.saved')
  }
  const setting = useSubmit(() => change(password))
  const isShort = password.length < leastPassword
  return (
    <>
      <Form submission={setting} label={t('password.set')} isWrong={isShort} attempted={() => setChecked(true)}>
        {needsOld && <Field kind="secret" isKnown label={t('password.old')} value={old} set={setOld} />}
        <Field
          kind="secret"
          label={t(isSet ? 'password.new' : 'password.first')}
          value={password}
          set={setPassword}
          trouble={isChecked && isShort ? t('password.short', { least: leastPassword }) : ''}
          generate={newPassword}
        />
      </Form>
      {isSet && (
        <details>
          <summary>{t('password.removeTitle')}</summary>
          <p>{t(`password.removeText.${role}`)}</p>
          <Action label={t('password.remove')} run={() => change(null)} />
        </details>
      )}
    </>
  )
}
