import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { t } from '../../i18n.js'

/** Kind of entry in a field: its keyboard, and what the browser checks or offers. */
type FieldKind = 'text' | 'number' | 'whole' | 'secret' | 'search' | 'time' | 'url'

export interface Option {
  readonly value: string
  readonly text: string
}

export interface FieldProps {
  label: string
  value: string
  set: (text: string) => void
  kind?: FieldKind | undefined
  /** Behind the field. */
  unit?: string | undefined
  help?: ComponentChildren
  /** Trouble with the entry; '' for none. */
  trouble?: string | undefined
  disabled?: boolean | undefined
  /** One of these, and no other text. */
  options?: readonly Option[] | undefined
  /** Lines of a text of several. */
  rows?: number | undefined
  /** Offered as it is typed, other texts are taken too. */
  suggest?: readonly string[] | ((typed: string) => Promise<readonly string[]>) | undefined
  /** Of a new secret: a button puts it in. */
  generate?: (() => string) | undefined
  /** Of a secret that the browser knows. */
  isKnown?: boolean | undefined
  /** A secret that is shown from the beginning: it was made here. */
  isSeen?: boolean | undefined
  name?: string | undefined
  placeholder?: string | undefined
  /** The field is left. */
  left?: ((text: string) => void) | undefined
}

/** A labelled text, number, secret or choice; help and trouble stand below and are read with it. */
export function Field(props: FieldProps) {
  const { disabled, help, label, left, name, options, placeholder, rows, set, trouble = '', unit, value } = props
  const { generate, isKnown, isSeen = false, kind = 'text' } = props
  const id = useId()
  const [isShown, setShown] = useState(isSeen)
  const suggested = useSuggestions(props.suggest, value)
  const isSecret = kind === 'secret'
  const common = {
    id,
    name,
    disabled,
    value,
    'aria-invalid': trouble !== '',
    'aria-describedby': `${id}-help`,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => set(currentTarget.value),
  }
  const input = (
    <input
      {...common}
      {...typed(kind, isShown)}
      // Names and addresses are not corrected by the keyboard of a phone.
      autocomplete={isSecret ? (isKnown ? 'current-password' : 'new-password') : 'off'}
      autocapitalize="none"
      spellcheck={false}
      placeholder={placeholder}
      list={suggested.length > 0 ? `${id}-list` : undefined}
      onChange={({ currentTarget }) => left?.(currentTarget.value)}
    />
  )
  return (
    <div class="entry">
      <label for={id}>{label}</label>
      {options ? (
        <select {...common}>
          {options.map((one) => (
            <option key={one.value} value={one.value}>
              {one.text}
            </option>
          ))}
        </select>
      ) : rows ? (
        <textarea
          {...common}
          rows={rows}
          spellcheck={false}
          onChange={({ currentTarget }) => left?.(currentTarget.value)}
        />
      ) : unit ? (
        <span class="with-unit">
          {input}
          <span>{unit}</span>
        </span>
      ) : (
        input
      )}
      {suggested.length > 0 && (
        <datalist id={`${id}-list`}>
          {suggested.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      <p id={`${id}-help`} class="quiet">
        {help} <span class="trouble">{trouble}</span>
      </p>
      {isSecret && (
        <div class="entry-beside">
          {/* Hidden as it is typed, shown on demand: many are typed on a phone from a sticker. */}
          <Switch label={t('login.show')} isOn={isShown} set={setShown} />
          {generate && (
            <button
              type="button"
              disabled={disabled}
              onClick={() => {
                set(generate())
                setShown(true)
              }}
            >
              {t('password.make')}
            </button>
          )}
        </div>
      )}
    </div>
  )
}

/** Preact's types tie attributes to one literal type. */
function typed(kind: FieldKind, isShown: boolean): { type: 'text'; inputMode?: 'decimal' | 'numeric' } {
  if (kind === 'number') return { type: 'text', inputMode: 'decimal' }
  if (kind === 'whole') return { type: 'text', inputMode: 'numeric' }
  if (kind === 'secret') return { type: (isShown ? 'text' : 'password') as 'text' }
  return { type: kind as 'text' }
}

/** Of the text as it is typed; of nothing before. An answer that comes too late is dropped. */
function useSuggestions(suggest: FieldProps['suggest'], text: string): readonly string[] {
  const [found, setFound] = useState<readonly string[]>([])
  const [first] = useState(text)
  useEffect(() => {
    if (typeof suggest !== 'function' || text === '' || text === first) return setFound([])
    let isCurrent = true
    const show = (values: readonly string[]) => {
      if (isCurrent) setFound(values)
    }
    suggest(text).then(show, () => show([]))
    return () => {
      isCurrent = false
    }
  }, [suggest, text, first])
  return typeof suggest === 'object' ? suggest : found
}

interface SwitchProps {
  label: ComponentChildren
  isOn: boolean
  set: (isOn: boolean) => void
  disabled?: boolean | undefined
  /** What it switches is on its way: until then it keeps the focus and takes no tap. */
  isRunning?: boolean | undefined
  help?: ComponentChildren
  trouble?: string | undefined
  name?: string | undefined
  /** Text for screen readers, if the label alone is ambiguous. */
  spoken?: string | undefined
}

/** On or off. */
export function Switch(props: SwitchProps) {
  const { disabled, help, isOn, isRunning = false, label, name, set, spoken, trouble = '' } = props
  const id = useId()
  const hasHelp = Boolean(help) || trouble !== ''
  return (
    <>
      <label class="switch">
        <input
          type="checkbox"
          name={name}
          checked={isOn}
          disabled={disabled}
          aria-disabled={isRunning}
          aria-label={spoken}
          aria-invalid={trouble !== ''}
          aria-describedby={hasHelp ? `${id}-help` : undefined}
          onClick={(event) => isRunning && event.preventDefault()}
          onChange={({ currentTarget }) => set(currentTarget.checked)}
        />
        {label}
      </label>
      {hasHelp && (
        <p id={`${id}-help`} class="quiet">
          {help} <span class="trouble">{trouble}</span>
        </p>
      )}
    </>
  )
}

/** One of a few, all of them in sight. */
export function Options<T extends string | number>(props: {
  label: string
  options: readonly T[]
  textOf: (option: T) => string
  value: T
  set: (value: T) => void
  children?: ComponentChildren
}) {
  const { children, label, options, set, textOf, value } = props
  const id = useId()
  return (
    <fieldset>
      <legend>{label}</legend>
      {options.map((one) => (
        <label key={one} class="switch">
          <input type="radio" name={id} checked={value === one} onChange={() => set(one)} />
          {textOf(one)}
        </label>
      ))}
      {children}
    </fieldset>
  )
}

/** A file of this device. */
export function FileField(props: {
  label: string
  /** Endings. */
  accept: string
  set: (file: File | undefined) => void
  help?: string
  disabled?: boolean
}) {
  const { accept, disabled, help, label, set } = props
  const id = useId()
  return (
    <>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept={accept}
        disabled={disabled}
        aria-describedby={help ? `${id}-help` : undefined}
        onChange={({ currentTarget }) => set(currentTarget.files?.[0])}
      />
      {help && (
        <p id={`${id}-help`} class="quiet">
          {help}
        </p>
      )}
    </>
  )
}
