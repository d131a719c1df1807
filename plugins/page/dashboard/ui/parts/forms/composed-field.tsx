import { useId } from 'preact/hooks'
import { t } from '../../i18n/index.js'
import { partOf } from '../../i18n/plugin-texts.js'
import { type Field, fieldOf, textOf, unitOf, valueFrom } from '../../model/form.js'
import type { Schema } from '../../station/api.js'
import { troubleOf } from './trouble.js'

interface Props {
  /** Of the parameter: its parts have texts of their own. */
  name: string
  label: string
  field: Field
  /** The value as JSON. */
  text: string
  disabled: boolean
  enter: (text: string) => void
}

/** Fields for a setting with several parts, or a list with rows that are added and removed. */
export function ComposedField({ name, label, field, text, disabled, enter }: Props) {
  const value = parsed(text)
  const { items = {}, maxItems = 100 } = field.schema
  const row = (schema: Schema, own: unknown, set: (value: unknown) => void) => (
    <Parts name={name} schema={schema} value={own} disabled={disabled} set={set} />
  )
  const tell = (next: unknown) => enter(JSON.stringify(next, null, 2))
  if (field.kind === 'object')
    return (
      <fieldset>
        <legend>{label}</legend>
        {row(field.schema, value, tell)}
      </fieldset>
    )
  const list = Array.isArray(value) ? value : []
  return (
    <fieldset>
      <legend>{label}</legend>
      {list.map((own, at) => (
        // A row has no name but its place.
        <div key={at} class="row">
          {row(items, own, (next) => tell(list.map((one, n) => (n === at ? next : one))))}
          <button type="button" disabled={disabled} onClick={() => tell(list.filter((_, n) => n !== at))}>
            {t('settings.removeRow', { at: at + 1 })}
          </button>
        </div>
      ))}
      <button
        type="button"
        disabled={disabled || list.length >= maxItems}
        onClick={() => tell([...list, items.type === 'object' ? {} : ''])}
      >
        {t('settings.addRow')}
      </button>
    </fieldset>
  )
}

/** The fields of an object, or one field. */
function Parts(props: {
  name: string
  schema: Schema
  value: unknown
  disabled: boolean
  set: (value: unknown) => void
}) {
  const { name, schema, value, disabled, set } = props
  if (schema.type !== 'object')
    return <Part label={t('settings.row')} part="" schema={schema} value={value} disabled={disabled} set={set} />
  const whole = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([part, own]) => (
        <Part
          key={part}
          label={partOf(name, part, own.title ?? part)}
          part={part}
          schema={own}
          value={whole[part]}
          disabled={disabled}
          set={(next) => {
            const { [part]: _, ...rest } = whole
            // An empty field that may be left out is left out.
            set(next === '' && !schema.required?.includes(part) ? rest : { ...whole, [part]: next })
          }}
        />
      ))}
    </>
  )
}

function Part(props: {
  label: string
  part: string
  schema: Schema
  value: unknown
  disabled: boolean
  set: (value: unknown) => void
}) {
  const { label, part, schema, value, disabled, set } = props
  const id = useId()
  const field = fieldOf(schema)
  const shown = unitOf(label)
  const text = textOf(field, value)
  // A row that was just added is empty, and a part may be left out.
  const trouble = text === '' ? '' : troubleOf(field, text)
  const common = { id, disabled, name: part, 'aria-invalid': trouble !== '', 'aria-describedby': `${id}-help` }
  if (field.kind === 'flag' || field.kind === 'switch')
    return (
      <label class="switch">
        <input
          {...common}
          type="checkbox"
          checked={value === true || value === 1}
          onChange={({ currentTarget: { checked } }) => set(field.kind === 'flag' ? checked : Number(checked))}
        />
        {label}
      </label>
    )
  return (
    <div>
      <label for={id}>{shown.unit ? `${shown.label} (${shown.unit})` : label}</label>
      {field.kind === 'choice' ? (
        <select
          {...common}
          value={textOf(field, value)}
          onChange={({ currentTarget }) => set(valueFrom(field, currentTarget.value))}
        >
          <option value="" />
          {field.choices.map((one) => (
            <option key={String(one)} value={String(one)}>
              {String(one)}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          type="text"
          inputMode={field.kind === 'number' ? 'decimal' : 'text'}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => set(valueFrom(field, currentTarget.value))}
        />
      )}
      <p id={`${id}-help`} class="trouble">
        {trouble}
      </p>
    </div>
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
