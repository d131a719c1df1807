/** The rover logins of the station's caster, and the form for a new one. */
import { useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded, Waiting } from '../../../../../../runtime/lib/page/ui/parts/loaded.js'
import { at, type Json } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { t } from '../../i18n/index.js'
import { newPassword } from '../../model/password.js'
import { freeName, loginTroubles, type RoverLoginList, shutsOut } from '../../model/rover-login.js'
import { SecretField, TextField } from '../../parts/forms/text-field.js'
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
                    loaded.again()
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
                  loaded.again()
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
  const [isShown, setShown] = useState(true)
  const [isChecked, setChecked] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const [trouble, setTrouble] = useState('')
  const wrong = loginTroubles(name, password, names)
  const submit = async (event: Event) => {
    event.preventDefault()
    setChecked(true)
    setTrouble('')
    if (wrong.name || wrong.password) return
    setRunning(true)
    try {
      await roverLogins.set(name, password)
      done({ user: name, password })
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error))
    }
    setRunning(false)
  }
  return (
    <form class="command" onSubmit={(event) => void submit(event)} noValidate>
      <h3>{t('logins.add')}</h3>
      <TextField
        label={t('logins.name')}
        value={name}
        set={setName}
        trouble={isChecked && wrong.name ? t(`logins.trouble.${wrong.name}`) : ''}
      />
      <SecretField
        label={t('logins.password')}
        value={password}
        set={setPassword}
        trouble={isChecked && wrong.password ? t('logins.trouble.password') : ''}
        isShown={isShown}
        show={setShown}
        suggests
      />
      {shutsOut(list) && <p class="caution">{t('logins.shutsOut')}</p>}
      <div class="buttons">
        <button type="submit" class="main" disabled={isRunning}>
          {t(isRunning ? 'commands.running' : 'logins.save')}
        </button>
      </div>
      <p class="trouble" role="status">
        {trouble}
      </p>
    </form>
  )
}
