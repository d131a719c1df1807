import { useId } from 'preact/hooks'
import { notation, t } from '../../i18n/index.js'
import { helpOf, labelOf, partOf } from '../../i18n/plugin-texts.js'
import { boundsOf, type Field, fieldOf, isComposed, shownValue, textOf, unitOf } from '../../model/form.js'
import type { Parameter } from '../../station/api.js'
import { keysShown } from '../show-keys.js'
import { ComposedField } from './composed-field.js'
import { SecretInput } from './setting-form.js'
import { troubleOf } from './trouble.js'

interface Props {
  parameter: Parameter
  /** The entered text; undefined: none. */
  entered: string | undefined
  trouble: string
  disabled: boolean
  enter: (text: string | undefined) => void
  /** The page that has a form for it. */
  page: string | undefined
}

/** Text of a field; a comma is read, too. */
const inField = (field: Field, value: unknown): string =>
  field.kind === 'number' ? notation(textOf(field, value)) : textOf(field, value)

/** A value in the words of the page. */
export function wordsOf({ name }: Pick<Parameter, 'name'>, field: Field, value: unknown): string {
  const text = inField(field, value)
  if (field.kind === 'choice') return partOf(name, text, text)
  if (field.kind === 'switch' || field.kind === 'flag')
    return text === '' ? '' : t(text === '1' || text === 'true' ? 'settings.on' : 'settings.off')
  return isComposed(field) ? shownValue(field, value) : text
}

/** A field for a parameter of any schema. */
export function FieldRow({ parameter, entered, trouble: refusal, disabled, enter, page }: Props) {
  const { name, schema, secret, value, default: preset, set } = parameter
  const id = useId()
  const field = fieldOf(schema)
  const trouble = troubleOf(field, entered) || refusal
  const text = entered ?? (secret ? '' : inField(field, value))
  const common = { id, disabled, 'aria-describedby': `${id}-help`, 'aria-invalid': trouble !== '' }
  const bounds = boundsOf(field)
  const { label, unit } = unitOf(labelOf(parameter))
  const isText = isComposed(field) && (secret || field.kind === 'json')
  const usual = secret || isComposed(field) ? '' : wordsOf(parameter, field, preset)
  const hint = [
    // Of a setting without fields of its own it is an example of its JSON.
    (!isText || keysShown.value) && helpOf(parameter),
    bounds && t('settings.bounds', { least: bounds.least, most: bounds.most }),
    usual && t('settings.default', { value: unit ? `${usual} ${unit}` : usual }),
    secret && t(set ? 'settings.secretSet' : 'settings.secretNotSet'),
  ].filter(Boolean)
  const change = ({ currentTarget }: { currentTarget: { value: string } }) => enter(currentTarget.value)
  return (
    <div class={`field ${entered === undefined ? '' : 'field-changed'}`}>
      {field.kind === 'switch' || field.kind === 'flag' ? (
        <label class="switch">
          <input
            {...common}
            type="checkbox"
            checked={text === '1' || text === 'true'}
            onChange={({ currentTarget: { checked } }) =>
              enter(field.kind === 'flag' ? String(checked) : checked ? '1' : '0')
            }
          />
          {label}
        </label>
      ) : isText && !keysShown.value ? (
        <p>
          {label}:{' '}
          <a class="target" href={`#/${page ?? 'expert'}`}>
            {t('settings.toForm')}
          </a>
        </p>
      ) : isComposed(field) && !isText ? (
        <ComposedField name={name} label={label} field={field} text={text} disabled={disabled} enter={enter} />
      ) : (
        <>
          <label for={id}>{label}</label>
          {field.kind === 'choice' ? (
            <select {...common} value={text} onChange={change}>
              {field.choices.map((one) => (
                <option key={String(one)} value={String(one)}>
                  {partOf(name, String(one), String(one))}
                </option>
              ))}
            </select>
          ) : isText ? (
            <textarea {...common} rows={6} value={text} onInput={change} spellcheck={false} />
          ) : secret ? (
            <SecretInput {...common} value={text} enter={enter} />
          ) : (
            <span class="with-unit">
              <input
                {...common}
                type="text"
                inputMode={field.kind === 'number' ? 'decimal' : 'text'}
                value={text}
                onInput={change}
                autocomplete="off"
              />
              {unit && <span>{unit}</span>}
            </span>
          )}
        </>
      )}
      <p id={`${id}-help`} class="quiet">
        {keysShown.value && <code>{name}</code>} {hint.join(' · ')} <span class="trouble">{trouble}</span>
      </p>
      {entered !== undefined && (
        <button type="button" onClick={() => enter(undefined)}>
          {t('settings.forget')}
        </button>
      )}
    </div>
  )
}
