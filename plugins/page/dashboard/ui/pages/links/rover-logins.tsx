/** The rover logins of the station's caster, and the form for a new one. */
import { useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { Field } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { useLoaded, Waiting } from '../../../../../../runtime/lib/page/ui/parts/loaded.js'
import { at, type Json } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { t } from '../../i18n/index.js'
import { newPassword } from '../../model/password.js'
import { freeName, loginTroubles, type RoverLoginList, shutsOut } from '../../model/rover-login.js'
import { roverLogins } from '../../station/rover-logins.js'
import { EnterThis } from './enter-this.js'

const load = () => roverLogins.list()

interface Made {
  user: string
  password: string
}

/** Nothing without the caster, and nothing for viewers: who the rovers are is not for them. */
export function RoverLogins({ document }: { document: Json }) {
  return at(document, 'ntrip.caster') === undefined || isReadOnly.value ? null : <Logins />
}

function Logins() {
  const loaded = useLoaded(load)
  const [made, setMade] = useState<Made>()
  return (
    <Card title={t('logins.title')}>
      <Waiting of={loaded}>
        {(list) => (
          <>
            <p>{t(accessText(list))}</p>
            {list.users.map(({ name }) => (
              <div key={name} class="command way">
                <h3>{name}</h3>
                <Action
                  label={t('casters.remove')}
                  name={t('casters.removeOf', { name })}
                  caution={
                    <p>
                      {t(
                        list.users.length === 1 && !list.anonymous.withLogins
                          ? 'logins.removeLast'
                          : 'logins.removeWarning',
                      )}
                    </p>
                  }
                  run={async () => {
                    await roverLogins.remove(name)
                    if (made?.user === name) setMade(undefined)
                    await loaded.again()
                    return ''
                  }}
                />
              </div>
            ))}
            {made && <EnterThis list={list} {...made} close={() => setMade(undefined)} />}
            {!made && (
              <LoginForm
                list={list}
                done={(login) => {
                  setMade(login)
                  void loaded.again()
                }}
              />
            )}
          </>
        )}
      </Waiting>
    </Card>
  )
}

const accessText = ({ anonymous }: RoverLoginList) =>
  anonymous.withLogins ? 'logins.anonymous' : anonymous.now ? 'logins.none' : 'logins.needed'

function LoginForm({ list, done }: { list: RoverLoginList; done: (login: Made) => void }) {
  const names = list.users.map(({ name }) => name)
  const [name, setName] = useState(() => freeName(names))
  const [password, setPassword] = useState(newPassword)
  const [isChecked, setChecked] = useState(false)
  const wrong = loginTroubles(name, password, names)
  const submission = useSubmit(async () => {
    await roverLogins.set(name, password)
    done({ user: name, password })
    return ''
  })
  return (
    <div class="command">
      <h3>{t('logins.add')}</h3>
      <Form
        submission={submission}
        label={t('logins.save')}
        isWrong={Boolean(wrong.name || wrong.password)}
        attempted={() => setChecked(true)}
      >
        <Field
          label={t('logins.name')}
          value={name}
          set={setName}
          trouble={isChecked && wrong.name ? t(`logins.trouble.${wrong.name}`) : ''}
        />
        <Field
          kind="secret"
          label={t('logins.password')}
          value={password}
          set={setPassword}
          trouble={isChecked && wrong.password ? t('logins.trouble.password') : ''}
          generate={newPassword}
          isSeen
        />
        {shutsOut(list) && <p class="caution">{t('logins.shutsOut')}</p>}
      </Form>
    </div>
  )
}
