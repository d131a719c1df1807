import { useId, useState } from 'preact/hooks'
import { t } from '../../i18n/index.js'
import { partOf } from '../../i18n/plugin-texts.js'
import { changesOf, fieldOf, textOf } from '../../model/form.js'
import { api, type Parameter } from '../../station/api.js'
import { hello } from '../../station/live.js'
import { Tone } from '../card.js'

/** One setting of a small form. */
export interface Setting {
  readonly name: string
  readonly label: string
  readonly help?: string
}

/** A few settings that belong together, in the words of the page; saved by one tap. Shows nothing that the station does not have. */
export function SettingForm(props: {
  settings: readonly Setting[]
  parameters: readonly Parameter[]
  /** The text of the button. */
  save: string
  /** Reads the parameters again. */
  again: () => void
  /** Sent with them. */
  also?: Readonly<Record<string, unknown>>
}) {
  const { again, also, parameters, save, settings } = props
  const [entered, setEntered] = useState<ReadonlyMap<string, string>>(new Map())
  const [troubles, setTroubles] = useState<ReadonlyMap<string, string>>(new Map())
  const [answer, setAnswer] = useState({ text: '', isTrouble: false })
  const [isRunning, setRunning] = useState(false)
  const rows = settings.flatMap((setting) => {
    const parameter = parameters.find(({ name }) => name === setting.name)
    return parameter ? [{ ...setting, parameter }] : []
  })
  if (rows.length === 0) return null
  const enter = (name: string) => (text: string) => setEntered(new Map(entered).set(name, text))
  const changes = changesOf(
    rows.map(({ parameter }) => parameter),
    entered,
  )
  const send = async (event: Event) => {
    event.preventDefault()
    setRunning(true)
    try {
      const { result, errors = [] } = await api.change({ ...Object.fromEntries(changes), ...also })
      setTroubles(new Map(errors.map(({ name, message }) => [name, message])))
      const isRefused = result === 'failed'
      const others = errors.filter(({ name }) => !rows.some((row) => row.name === name)).map(({ message }) => message)
      setAnswer({
        text: [t(isRefused ? 'settings.refused' : 'settings.done'), ...others].join(' '),
        isTrouble: isRefused,
      })
      if (!isRefused) {
        setEntered(new Map())
        again()
      }
    } catch (error) {
      setAnswer({ text: error instanceof Error ? error.message : String(error), isTrouble: true })
    }
    setRunning(false)
  }
  return (
    <form onSubmit={send}>
      {rows.map(({ name, label, help, parameter }) => (
        <SettingField
          key={name}
          label={label}
          help={help}
          parameter={parameter}
          entered={entered.get(name)}
          trouble={troubles.get(name) ?? ''}
          enter={enter(name)}
        />
      ))}
      <div class="buttons">
        <button type="submit" class="main" disabled={isRunning || changes.size === 0 || hello.value?.role === 'viewer'}>
          {isRunning ? t('settings.sending') : save}
        </button>
      </div>
      <p class={answer.isTrouble ? 'trouble' : ''} role="status">
        {answer.isTrouble || answer.text === '' ? answer.text : <Tone tone="good">{answer.text}</Tone>}
      </p>
    </form>
  )
}

function SettingField(props: {
  label: string
  help: string | undefined
  parameter: Parameter
  entered: string | undefined
  trouble: string
  enter: (text: string) => void
}) {
  const { enter, entered, help, label, parameter, trouble } = props
  const id = useId()
  const field = fieldOf(parameter.schema)
  const isOn = field.kind === 'switch' || field.kind === 'flag'
  const text = entered ?? (parameter.secret ? '' : textOf(field, parameter.value))
  const common = {
    id,
    disabled: hello.value?.role === 'viewer',
    'aria-describedby': `${id}-help`,
    'aria-invalid': trouble !== '',
  }
  const note = [help, parameter.secret && parameter.set && t('settings.secretSet')].filter(Boolean)
  const [yes, no] = field.kind === 'flag' ? ['true', 'false'] : ['1', '0']
  return (
    <div>
      {isOn ? (
        <label class="switch">
          <input
            {...common}
            type="checkbox"
            checked={text === yes}
            onChange={({ currentTarget: { checked } }) => enter(checked ? yes : no)}
          />
          {label}
        </label>
      ) : (
        <>
          <label for={id}>{label}</label>
          {parameter.secret ? (
            <SecretInput {...common} value={text} enter={enter} />
          ) : field.kind === 'choice' ? (
            <select {...common} value={text} onChange={({ currentTarget }) => enter(currentTarget.value)}>
              {field.choices.map((one) => (
                <option key={String(one)} value={String(one)}>
                  {partOf(parameter.name, String(one), String(one) || '–')}
                </option>
              ))}
            </select>
          ) : (
            <input
              {...common}
              type="text"
              inputMode={field.kind === 'number' ? 'decimal' : 'text'}
              value={text}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => enter(currentTarget.value)}
            />
          )}
        </>
      )}
      <p id={`${id}-help`} class="quiet">
        {note.join(' · ')} <span class="trouble">{trouble}</span>
      </p>
    </div>
  )
}

/** Hidden as it is typed, shown on demand: many are typed on a phone from a sticker. */
export function SecretInput(props: {
  id: string
  value: string
  enter: (text: string) => void
  disabled?: boolean
  'aria-describedby'?: string
  'aria-invalid'?: boolean
}) {
  const { enter, ...rest } = props
  const [isShown, setShown] = useState(false)
  // Preact's types tie attributes to one literal type.
  const type = (isShown ? 'text' : 'password') as 'password'
  return (
    <>
      <input
        {...rest}
        type={type}
        autocomplete="new-password"
        spellcheck={false}
        onInput={({ currentTarget }) => enter(currentTarget.value)}
      />
      <label class="switch">
        <input type="checkbox" checked={isShown} onChange={({ currentTarget }) => setShown(currentTarget.checked)} />
        {t('password.show')}
      </label>
    </>
  )
}
