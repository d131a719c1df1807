import { useState } from 'preact/hooks'
import { isReadOnly, ValuesRefused } from '../../../../../../runtime/lib/page/ui/http.js'
import { changesOf, fieldOf } from '../../../../../../runtime/lib/page/ui/model/form.js'
import type { FieldProps } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../../runtime/lib/page/ui/parts/form/form.js'
import { entryOf, SchemaField, troubleOf } from '../../../../../../runtime/lib/page/ui/parts/form/schema-field.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { t } from '../../i18n/index.js'
import { partOf } from '../../i18n/plugin-texts.js'
import { api, type Parameter } from '../../station/api.js'

/** One setting of a small form. */
export interface Setting {
  readonly name: string
  readonly label: string
  readonly help?: string
  readonly suggest?: FieldProps['suggest']
}

type ByName = ReadonlyMap<string, string>
const without = (all: ByName, name: string): ByName => new Map([...all].filter(([of]) => of !== name))

/**
 * Typed texts, and why the station refused them. A changed text is no longer the one that was refused.
 * @param again reads the values again
 */
export function useEntries(again: () => Promise<void>) {
  const [entered, setEntered] = useState<ByName>(new Map())
  const [refused, setRefused] = useState<ByName>(new Map())
  return {
    entered,
    refused,
    enter: (name: string, text: string | undefined) => {
      setEntered(text === undefined ? without(entered, name) : new Map(entered).set(name, text))
      setRefused(without(refused, name))
    },
    /** @throws ValuesRefused, with its reasons at their fields */
    change: async (values: Readonly<Record<string, unknown>>) => {
      try {
        const answer = await api.change(values)
        // What was sent is shown until the station's value is there, which may take long where the change ends this link. What was
        // typed meanwhile stays.
        const isSent = ([name, text]: [string, string]) => entered.get(name) === text
        void again().then(() => setEntered((now) => new Map([...now].filter((one) => !isSent(one)))))
        setRefused(new Map())
        return answer
      } catch (error) {
        if (error instanceof ValuesRefused) setRefused(error.reasons)
        throw error
      }
    },
    clear: () => setEntered(new Map()),
  }
}

/** A few settings that belong together, in the words of the page; saved by one tap. Shows nothing that the station does not have. */
export function SettingForm(props: {
  settings: readonly Setting[]
  parameters: readonly Parameter[]
  /** The text of the button. */
  save: string
  /** Reads the parameters again. */
  again: () => Promise<void>
  /** Sent with them. */
  also?: Readonly<Record<string, unknown>>
  /** Done after they are saved; its failure is shown like that of the form. */
  afterwards?: (() => Promise<unknown>) | undefined
}) {
  const { afterwards, again, also, parameters, save, settings } = props
  const { change, enter, entered, refused } = useEntries(again)
  const rows = settings.flatMap((setting) => {
    const parameter = parameters.find(({ name }) => name === setting.name)
    if (!parameter) return []
    const field = fieldOf(parameter.schema)
    const typed = entered.get(setting.name)
    const text = typed ?? (parameter.secret ? '' : entryOf(field, parameter.value))
    return [{ ...setting, parameter, text, wrong: troubleOf(field, typed) }]
  })
  const changes = changesOf(
    rows.map(({ parameter }) => parameter),
    entered,
  )
  const submission = useSubmit(async () => {
    const { errors = [] } = await change({ ...Object.fromEntries(changes), ...also }).catch((error: unknown) => {
      throw error instanceof ValuesRefused ? new Error(refusalOf(error, rows)) : error
    })
    await afterwards?.().finally(again)
    return [t('settings.done'), ...errors.map(({ message }) => message)].join(' ')
  })
  if (rows.length === 0) return null
  return (
    <Form
      submission={submission}
      label={save}
      sending={t('settings.sending')}
      isWrong={rows.some(({ wrong }) => wrong !== '')}
      isDisabled={changes.size === 0}
    >
      {rows.map(({ help, label, name, parameter: { schema, secret, set }, suggest, text, wrong }) => (
        <SchemaField
          key={name}
          schema={schema}
          label={label}
          text={text}
          enter={(next) => enter(name, next)}
          words={(part, english) => partOf(name, part, english)}
          isSecret={secret}
          help={[help, secret && set && t('settings.secretSet')].filter(Boolean).join(' · ')}
          trouble={wrong || refused.get(name)}
          disabled={isReadOnly.value}
          suggest={suggest}
        />
      ))}
    </Form>
  )
}

/** Refusals of values that have no field here; the others stand at their fields. */
export const refusalOf = ({ reasons }: ValuesRefused, shown: readonly { readonly name: string }[]): string =>
  [
    t('settings.refused'),
    ...[...reasons].filter(([name]) => !shown.some((row) => row.name === name)).map(([, reason]) => reason),
  ].join(' ')
