import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { fieldOf, wrongOf } from '../../../../../runtime/lib/page/ui/model/form.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../runtime/lib/page/ui/parts/form/form.js'
import { SchemaField } from '../../../../../runtime/lib/page/ui/parts/form/schema-field.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { fleetApi, type StationDetail } from '../fleet/api.js'
import { may } from '../fleet/live.js'
import { t } from '../i18n/index.js'
import { type Chosen, inputOf, valuesOf } from '../model/chosen.js'
import { linesOf, textOfLines } from '../model/entered.js'
import { ChosenSettings, useSettings } from './chosen-settings.js'

/** Asks a station for its document of now. */
export const AskDocument = ({ serial }: { serial: string }) => (
  <Action
    label={t('actions.ask')}
    run={async () => {
      await fleetApi.ask(serial)
      return t('actions.asked')
    }}
  />
)

/** Actions of an operator on a station. All of them are in the record. */
export function StationActions({ station }: { station: StationDetail }) {
  const { serial } = station
  return (
    <Card title={t('actions.title')}>
      <details>
        <summary>{t('actions.given')}</summary>
        <Given station={station} />
      </details>
      <Fold title={t('actions.change')}>{() => <Change serial={serial} />}</Fold>
      <Fold title={t('actions.command')}>{() => <Command serial={serial} />}</Fold>
      <div class="actions">
        <AskDocument serial={serial} />
        {may('admin') && (
          <Action
            label={t('actions.forget')}
            caution={<p>{t('actions.forgetText', { serial })}</p>}
            run={async () => {
              await fleetApi.forget(serial)
              location.hash = '#/overview'
              return ''
            }}
          />
        )}
      </div>
    </Card>
  )
}

/** What it shows is loaded when it is opened. */
function Fold({ children, title }: { title: string; children: () => ComponentChildren }) {
  const [wasOpened, setOpened] = useState(false)
  return (
    <details onToggle={() => setOpened(true)}>
      <summary>{title}</summary>
      {wasOpened && children()}
    </details>
  )
}

function Given({ station }: { station: StationDetail }) {
  const [name, setName] = useState(station.name)
  const [group, setGroup] = useState(station.group)
  const [labels, setLabels] = useState(textOfLines(station.labels))
  const submission = useSubmit(async () => {
    const lines = linesOf(labels)
    if (!lines) throw new Error(t('actions.wrongLines'))
    await fleetApi.give(station.serial, { name, group, labels: lines })
    return t('actions.saved')
  })
  return (
    <Form label={t('actions.save')} submission={submission}>
      <Field label={t('actions.name')} value={name} set={setName} help={t('actions.nameHelp')} />
      <Field label={t('list.group')} value={group} set={setGroup} />
      <Field label={t('station.labels')} value={labels} set={setLabels} rows={3} help={t('actions.labelsHelp')} />
    </Form>
  )
}

function Change({ serial }: { serial: string }) {
  const { isThere, known, trouble } = useSettings(serial)
  const [chosen, setChosen] = useState<Chosen>(new Map())
  const values = valuesOf(known.parameters, chosen)
  const isWrong = known.parameters.some(({ name, schema }) => {
    const text = chosen.get(name)
    return text !== undefined && wrongOf(fieldOf(schema), text) !== undefined
  })
  const submission = useSubmit(async () => {
    const { errors = [], leftover } = await fleetApi.change(serial, values)
    const unknown = Object.keys(leftover)
    if (unknown.length > 0) throw new Error(t('actions.unknown', { names: unknown.join(', ') }))
    if (errors.length > 0) throw new Error(errors.map(({ name, message }) => `${name}: ${message}`).join('. '))
    setChosen(new Map())
    return t('actions.changed')
  })
  if (!isThere) return <Unsaid trouble={trouble} />
  return (
    <Form
      label={t('actions.send')}
      submission={submission}
      isDisabled={chosen.size === 0}
      isWrong={isWrong}
      caution={t('actions.changeText', { serial, names: [...chosen.keys()].join(', ') })}
    >
      <ChosenSettings label={t('actions.parameters')} known={known.parameters} chosen={chosen} set={setChosen} />
    </Form>
  )
}

/** The settings of the station are on their way, or it does not say them. */
const Unsaid = ({ trouble }: { trouble: string }) =>
  trouble === '' ? (
    <p class="quiet">{t('loaded.waiting')}</p>
  ) : (
    <p class="trouble" role="alert">
      {trouble}. {t('actions.unsaid')}
    </p>
  )

function Command({ serial }: { serial: string }) {
  const { isThere, known, trouble } = useSettings(serial)
  const [name, setName] = useState('')
  const [entered, setEntered] = useState<Chosen>(new Map())
  const action = known.actions.find((one) => one.name === name)
  const submission = useSubmit(async () => {
    if (!action) return ''
    const input = inputOf(action, entered)
    const isBare = Object.keys(input).length === 0
    const command = isBare ? name : JSON.stringify({ cmd_type: name, cmd_param: input })
    return (await fleetApi.command(serial, command)).answer || t('actions.sent')
  })
  if (!isThere) return <Unsaid trouble={trouble} />
  return (
    <Form
      label={t('actions.run')}
      submission={submission}
      isDisabled={!action}
      caution={action?.reads ? undefined : t('actions.commandText', { serial, caution: action?.caution ?? '' })}
    >
      <Field
        label={t('actions.commandLine')}
        value={name}
        set={(chosen) => {
          setName(chosen)
          setEntered(new Map())
        }}
        options={[
          { value: '', text: '–' },
          ...known.actions.map((one) => ({ value: one.name, text: `${one.summary} (${one.name})` })),
        ]}
      />
      {Object.entries(action?.input.properties ?? {}).map(([part, schema]) => (
        <SchemaField
          key={part}
          schema={schema}
          label={schema.title ?? part}
          text={entered.get(part) ?? ''}
          enter={(text) => setEntered(new Map(entered).set(part, text))}
          isSecret={schema.writeOnly}
          help={schema.description}
        />
      ))}
    </Form>
  )
}
