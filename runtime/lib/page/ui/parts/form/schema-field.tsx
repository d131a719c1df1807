import type { ComponentChildren } from 'preact'
import { notation, t } from '../../i18n.js'
import {
  choiceText,
  type Field as Derived,
  fieldOf,
  isComposed,
  type Schema,
  textOf,
  unitOf,
  valueFrom,
  wrongOf,
} from '../../model/form.js'

import { Field, type FieldProps, Switch } from './field.js'

/** The words of a part or a choice, which its schema names in English. */
export type Words = (part: string, english: string) => string

export interface SchemaFieldProps {
  schema: Schema
  /** The label's end may be the unit: `Height, m`. */
  label: string
  /** Of the value, as `textOf` writes it. */
  text: string
  enter: (text: string) => void
  words?: Words
  isSecret?: boolean | undefined
  help?: ComponentChildren
  /** Beside what the schema forbids: what the station refused. */
  trouble?: string | undefined
  disabled?: boolean | undefined
  name?: string | undefined
  suggest?: FieldProps['suggest']
}

const english: Words = (_part, text) => text

/** Trouble with a text as it is typed; '' for none, and before anything is typed. */
export function troubleOf(field: Derived, entered: string | undefined): string {
  const wrong = entered === undefined ? undefined : wrongOf(field, entered)
  return wrong ? t(`settings.wrong.${wrong.name}`, wrong.values) : ''
}

/** A value as a person enters it; a comma is read, too. */
export const entryOf = (field: Derived, value: unknown): string =>
  field.kind === 'number' ? notation(textOf(field, value)) : textOf(field, value)

/** A field for a value of any schema; one with several parts, or a list, is made of several. */
export function SchemaField(props: SchemaFieldProps) {
  const { disabled, enter, help, isSecret, label: whole, name, schema, suggest, text, trouble, words = english } = props
  const field = fieldOf(schema)
  const { kind } = field
  const { label, unit } = unitOf(whole)
  const common = { label, help, trouble, disabled, name }
  if (kind === 'switch' || kind === 'flag') {
    const [on, off] = kind === 'flag' ? ['true', 'false'] : ['1', '0']
    return <Switch {...common} isOn={text === on} set={(isOn) => enter(isOn ? on : off)} />
  }
  if ((kind === 'object' || kind === 'list') && !isSecret)
    return (
      <>
        <Composed field={field} label={label} text={text} enter={enter} words={words} disabled={disabled} />
        <p class="quiet">
          {help} <span class="trouble">{trouble}</span>
        </p>
      </>
    )
  if (isSecret && !isComposed(field)) return <Field {...common} kind="secret" value={text} set={enter} />
  if (kind === 'choice') {
    const choices = [...(field.nullable ? [''] : []), ...field.choices.map(String)]
    // What is held now may be none of them.
    const options = choices.includes(text) ? choices : [text, ...choices]
    const shown = (one: string) => ({ value: one, text: words(one, choiceText(field, one) || '–') })
    return <Field {...common} options={options.map(shown)} value={text} set={enter} />
  }
  if (kind === 'number')
    return <Field {...common} kind="number" unit={unit} value={text} set={enter} suggest={suggest} />
  return (
    <Field
      {...common}
      rows={isComposed(field) ? 6 : undefined}
      unit={unit}
      value={text}
      set={enter}
      suggest={suggest}
    />
  )
}

/** Fields for a value with several parts, or a list with rows that are added and removed. */
function Composed(props: {
  field: Derived
  label: string
  /** The value as JSON. */
  text: string
  enter: (text: string) => void
  words: Words
  disabled: boolean | undefined
}) {
  const { disabled, enter, field, label, text, words } = props
  const value = parsed(text)
  const { items = {}, maxItems = 100 } = field.schema
  const row = (schema: Schema, own: unknown, set: (value: unknown) => void) => (
    <Parts schema={schema} value={own} set={set} words={words} disabled={disabled} />
  )
  const tell = (next: unknown) => enter(JSON.stringify(next, null, 2))
  const list = Array.isArray(value) ? value : []
  return (
    <fieldset>
      <legend>{label}</legend>
      {field.kind === 'object' ? (
        row(field.schema, value, tell)
      ) : (
        <>
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
        </>
      )}
    </fieldset>
  )
}

/** The fields of an object, or one field. */
function Parts(props: {
  schema: Schema
  value: unknown
  set: (value: unknown) => void
  words: Words
  disabled: boolean | undefined
}) {
  const { disabled, schema, set, value, words } = props
  const part = (name: string, label: string, own: Schema, held: unknown, put: (value: unknown) => void) => {
    const field = fieldOf(own)
    const text = textOf(field, held)
    return (
      <SchemaField
        key={name}
        label={label}
        name={name}
        schema={own}
        text={text}
        // A row that was just added is empty, and a part may be left out.
        trouble={text === '' ? '' : troubleOf(field, text)}
        disabled={disabled}
        enter={(next) => put(valueFrom(field, next))}
      />
    )
  }
  if (schema.type !== 'object') return part('', t('settings.row'), schema, value, set)
  const whole = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([name, own]) =>
        part(name, words(name, own.title ?? name), own, whole[name], (next) => {
          const { [name]: _, ...rest } = whole
          // An empty field that may be left out is left out.
          set(next === '' && !schema.required?.includes(name) ? rest : { ...whole, [name]: next })
        }),
      )}
    </>
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
