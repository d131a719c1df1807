import { useEffect, useId, useState } from 'preact/hooks'
import { Outcome } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { t } from '../../i18n/index.js'
import { partOf } from '../../i18n/plugin-texts.js'
import { changesOf, fieldOf, textOf } from '../../model/form.js'
import { api, type Parameter } from '../../station/api.js'
import { hello } from '../../station/live.js'
import { useFocusWrong } from './focus-wrong.js'
import { troubleOf } from './trouble.js'

/** One setting of a small form. */
export interface Setting {
  readonly name: string
  readonly label: string
  readonly help?: string
  /** Values that begin as typed, or contain it; for a text. */
  readonly suggest?: (typed: string) => Promise<readonly string[]>
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
  /** Done after they are saved; its failure is shown like that of the form. */
  afterwards?: (() => Promise<unknown>) | undefined
}) {
  const { afterwards, again, also, parameters, save, settings } = props
  const [entered, setEntered] = useState<ReadonlyMap<string, string>>(new Map())
  const [troubles, setTroubles] = useState<ReadonlyMap<string, string>>(new Map())
  const [answer, setAnswer] = useState({ text: '', isTrouble: false })
  const [isRunning, setRunning] = useState(false)
  const { form, focusWrong } = useFocusWrong<HTMLFormElement>()
  const rows = settings.flatMap((setting) => {
    const parameter = parameters.find(({ name }) => name === setting.name)
    return parameter ? [{ ...setting, parameter }] : []
  })
  if (rows.length === 0) return null
  const enter = (name: string) => (text: string) => {
    setEntered(new Map(entered).set(name, text))
    // The station refused another value.
    setTroubles(new Map([...troubles].filter(([of]) => of !== name)))
  }
  const changes = changesOf(
    rows.map(({ parameter }) => parameter),
    entered,
  )
  const send = async (event: Event) => {
    event.preventDefault()
    if (rows.some(({ name, parameter }) => troubleOf(fieldOf(parameter.schema), entered.get(name)))) return focusWrong()
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
      if (isRefused) focusWrong()
      else {
        setEntered(new Map())
        await (afterwards?.() ?? Promise.resolve()).finally(again)
      }
    } catch (error) {
      setAnswer({ text: error instanceof Error ? error.message : String(error), isTrouble: true })
    }
    setRunning(false)
  }
  return (
    <form ref={form} onSubmit={send}>
      {rows.map(({ name, label, help, parameter, suggest }) => (
        <SettingField
          key={name}
          label={label}
          help={help}
          parameter={parameter}
          suggest={suggest}
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
      <Outcome {...answer} />
    </form>
  )
}

function SettingField(props: {
  label: string
  help: string | undefined
  parameter: Parameter
  suggest: Setting['suggest']
  entered: string | undefined
  trouble: string
  enter: (text: string) => void
}) {
  const { enter, entered, help, label, parameter, suggest, trouble: refusal } = props
  const id = useId()
  const field = fieldOf(parameter.schema)
  const trouble = troubleOf(field, entered) || refusal
  const isOn = field.kind === 'switch' || field.kind === 'flag'
  const text = entered ?? (parameter.secret ? '' : textOf(field, parameter.value))
  const common = {
    id,
    disabled: hello.value?.role === 'viewer',
    'aria-describedby': `${id}-help`,
    'aria-invalid': trouble !== '',
  }
  const note = [help, parameter.secret && parameter.set && t('settings.secretSet')].filter(Boolean)
  const suggestions = useSuggestions(suggest, entered)
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
              list={suggestions.length > 0 ? `${id}-list` : undefined}
              onInput={({ currentTarget }) => enter(currentTarget.value)}
            />
          )}
          {suggestions.length > 0 && (
            <datalist id={`${id}-list`}>
              {suggestions.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      )}
      <p id={`${id}-help`} class="quiet">
        {note.join(' · ')} <span class="trouble">{trouble}</span>
      </p>
    </div>
  )
}

/** Of the text as it is typed; of nothing before. An answer that comes too late is dropped. */
function useSuggestions(suggest: Setting['suggest'], typed: string | undefined): readonly string[] {
  const [found, setFound] = useState<readonly string[]>([])
  useEffect(() => {
    if (!suggest || !typed) return setFound([])
    let isCurrent = true
    const show = (values: readonly string[]) => {
      if (isCurrent) setFound(values)
    }
    suggest(typed).then(show, () => show([]))
    return () => {
      isCurrent = false
    }
  }, [suggest, typed])
  return found
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
