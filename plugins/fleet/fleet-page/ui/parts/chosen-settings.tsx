import { useCallback } from 'preact/hooks'
import { fieldOf, unitOf } from '../../../../../runtime/lib/page/ui/model/form.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { entryOf, SchemaField, troubleOf } from '../../../../../runtime/lib/page/ui/parts/form/schema-field.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { fleetApi } from '../fleet/api.js'
import { t } from '../i18n/index.js'
import type { Chosen, Parameter, StationSettings } from '../model/chosen.js'

const none: StationSettings = { parameters: [], actions: [] }

/** What can be set and done on a station. One of another make may not say it: `trouble` then has the reason, and the lists are empty. */
export function useSettings(serial: string) {
  const loaded = useLoaded(
    useCallback(async () => (serial === '' ? undefined : await fleetApi.settings(serial)), [serial]),
  )
  return { known: loaded.value ?? none, isThere: loaded.value !== undefined, trouble: loaded.trouble }
}

const titleOf = ({ title }: Parameter) => unitOf(title).label

/** Some settings, chosen by their titles, each with the field of its schema: for a change of one station or of many. */
export function ChosenSettings(props: {
  label: string
  help?: string | undefined
  known: readonly Parameter[]
  chosen: Chosen
  set: (chosen: Chosen) => void
}) {
  const { chosen, help, known, label, set } = props
  const without = (name: string) => new Map([...chosen].filter(([of]) => of !== name))
  const left = known
    .filter(({ name }) => !chosen.has(name))
    .sort((one, other) => titleOf(one).localeCompare(titleOf(other)))
  return (
    <fieldset>
      <legend>{label}</legend>
      {help && <p class="quiet">{help}</p>}
      {known
        .filter(({ name }) => chosen.has(name))
        .map(({ name, schema, secret, title }) => {
          const text = chosen.get(name) ?? ''
          return (
            <div key={name} class="row">
              <SchemaField
                schema={schema}
                label={title}
                text={text}
                enter={(entered) => set(new Map(chosen).set(name, entered))}
                isSecret={secret}
                help={schema.description}
                trouble={troubleOf(fieldOf(schema), text)}
              />
              <button type="button" onClick={() => set(without(name))}>
                {t('chosen.remove', { name: titleOf({ title } as Parameter) })}
              </button>
            </div>
          )
        })}
      <Field
        label={t('chosen.add')}
        value=""
        set={(name) => {
          const one = known.find((known) => known.name === name)
          if (one) set(new Map(chosen).set(name, entryOf(fieldOf(one.schema), one.default)))
        }}
        options={[{ value: '', text: '–' }, ...left.map((one) => ({ value: one.name, text: titleOf(one) }))]}
      />
    </fieldset>
  )
}
