import { useId } from 'preact/hooks'
import { t } from '../../i18n/index.js'
import { boundsOf, fieldOf, textOf } from '../../model/form.js'
import type { Parameter } from '../../station/api.js'
import { SecretInput } from './setting-form.js'

interface Props {
  parameter: Parameter
  /** The entered text; undefined: none. */
  entered: string | undefined
  trouble: string
  disabled: boolean
  enter: (text: string | undefined) => void
}

/** A field for a parameter of any schema. */
export function FieldRow({ parameter, entered, trouble, disabled, enter }: Props) {
  const { name, title, schema, secret, value, default: preset, set } = parameter
  const id = useId()
  const field = fieldOf(schema)
  const text = entered ?? (secret ? '' : textOf(field, value))
  const common = { id, disabled, 'aria-describedby': `${id}-help`, 'aria-invalid': trouble !== '' }
  const bounds = boundsOf(field)
  const hint = [
    schema.description,
    bounds && t('settings.bounds', { least: bounds.least, most: bounds.most }),
    !secret &&
      preset !== undefined &&
      textOf(field, preset) !== '' &&
      t('settings.default', { value: textOf(field, preset) }),
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
          {title}
        </label>
      ) : (
        <>
          <label for={id}>{title}</label>
          {field.kind === 'choice' ? (
            <select {...common} value={text} onChange={change}>
              {field.choices.map((one) => (
                <option key={String(one)} value={String(one)}>
                  {String(one)}
                </option>
              ))}
            </select>
          ) : field.kind === 'json' ? (
            <textarea {...common} rows={6} value={text} onInput={change} spellcheck={false} />
          ) : secret ? (
            <SecretInput {...common} value={text} enter={enter} />
          ) : (
            <input
              {...common}
              type="text"
              inputMode={field.kind === 'number' ? 'decimal' : 'text'}
              value={text}
              onInput={change}
              autocomplete="off"
            />
          )}
        </>
      )}
      <p id={`${id}-help`} class="quiet">
        <code>{name}</code> {hint.join(' · ')} <span class="trouble">{trouble}</span>
      </p>
      {entered !== undefined && (
        <button type="button" onClick={() => enter(undefined)}>
          {t('settings.forget')}
        </button>
      )}
    </div>
  )
}
