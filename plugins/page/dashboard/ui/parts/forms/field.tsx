import {
  boundsOf,
  choiceText,
  type Field,
  fieldOf,
  isComposed,
  shownValue,
  unitOf,
} from '../../../../../../runtime/lib/page/ui/model/form.js'
import { entryOf, SchemaField, troubleOf } from '../../../../../../runtime/lib/page/ui/parts/form/schema-field.js'
import { t } from '../../i18n/index.js'
import { helpOf, labelOf, partOf } from '../../i18n/plugin-texts.js'
import type { Parameter } from '../../station/api.js'
import { keysShown } from '../show-keys.js'

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

/** A value in the words of the page. */
export function wordsOf({ name }: Pick<Parameter, 'name'>, field: Field, value: unknown): string {
  const text = entryOf(field, value)
  if (field.kind === 'choice') return partOf(name, text, choiceText(field, text))
  if (field.kind === 'switch' || field.kind === 'flag')
    return text === '' ? '' : t(text === '1' || text === 'true' ? 'settings.on' : 'settings.off')
  return isComposed(field) ? shownValue(field, value) : text
}

/** A field for a parameter of any schema. */
export function FieldRow({ parameter, entered, trouble, disabled, enter, page }: Props) {
  const { name, schema, secret, value, default: preset, set } = parameter
  const field = fieldOf(schema)
  const label = labelOf(parameter)
  const { label: short, unit } = unitOf(label)
  const bounds = boundsOf(field)
  const isText = isComposed(field) && (secret || field.kind === 'json')
  const usual = secret || isComposed(field) ? '' : wordsOf(parameter, field, preset)
  const hint = [
    // Of a setting without fields of its own it is an example of its JSON.
    (!isText || keysShown.value) && helpOf(parameter),
    bounds && t('settings.bounds', { least: bounds.least, most: bounds.most }),
    usual && t('settings.default', { value: unit ? `${usual} ${unit}` : usual }),
    secret && t(set ? 'settings.secretSet' : 'settings.secretNotSet'),
  ].filter(Boolean)
  const help = (
    <>
      {keysShown.value && <code>{name}</code>} {hint.join(' · ')}
    </>
  )
  return (
    <div class={`field ${entered === undefined ? '' : 'field-changed'}`}>
      {isText && !keysShown.value ? (
        <>
          <p>
            {short}:{' '}
            <a class="target" href={`#/${page ?? 'expert'}`}>
              {t('settings.toForm')}
            </a>
          </p>
          <p class="quiet">{help}</p>
        </>
      ) : (
        <SchemaField
          schema={schema}
          label={label}
          text={entered ?? (secret ? '' : entryOf(field, value))}
          enter={enter}
          words={(part, english) => partOf(name, part, english)}
          isSecret={secret}
          help={help}
          trouble={troubleOf(field, entered) || trouble}
          disabled={disabled}
        />
      )}
      {entered !== undefined && (
        <button type="button" onClick={() => enter(undefined)}>
          {t('settings.forget')}
        </button>
      )}
    </div>
  )
}
