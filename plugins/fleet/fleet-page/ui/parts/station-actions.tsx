import { useState } from 'preact/hooks'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { fleetApi, type StationDetail } from '../fleet/api.js'
import { may } from '../fleet/live.js'
import { t } from '../i18n/index.js'
import { enteredValue, linesOf, textOfLines } from '../model/entered.js'

/** Actions of an operator on a station. All of them are in the record. */
export function StationActions({ station }: { station: StationDetail }) {
  const { serial } = station
  return (
    <Card title={t('actions.title')}>
      <details>
        <summary>{t('actions.given')}</summary>
        <Given station={station} />
      </details>
      <details>
        <summary>{t('actions.change')}</summary>
        <Change serial={serial} />
      </details>
      <details>
        <summary>{t('actions.command')}</summary>
        <Command serial={serial} />
      </details>
      <div class="actions">
        <Action
          label={t('actions.ask')}
          run={async () => {
            await fleetApi.ask(serial)
            return t('actions.asked')
          }}
        />
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
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const submission = useSubmit(async () => {
    const { leftover } = await fleetApi.change(serial, { [name.trim()]: enteredValue(value) })
    const unknown = Object.keys(leftover)
    if (unknown.length > 0) throw new Error(t('actions.unknown', { names: unknown.join(', ') }))
    return t('actions.changed')
  })
  return (
    <Form
      label={t('actions.send')}
      submission={submission}
      isDisabled={name.trim() === ''}
      caution={t('actions.changeText', { serial, name: name.trim(), value })}
    >
      <Field label={t('actions.parameter')} value={name} set={setName} help={t('actions.parameterHelp')} />
      <Field label={t('actions.value')} value={value} set={setValue} />
    </Form>
  )
}

const known = [
  'reboot',
  'reboot-receiver',
  'start-survey-in',
  'stop-survey-in',
  'log=i',
  'rtcm-mqtt-force',
  'mqtt-renew',
]

/** Every command is asked about: the fleet does not hear which actions a station has, and which of them disturb it. */
function Command({ serial }: { serial: string }) {
  const [command, setCommand] = useState('')
  const submission = useSubmit(async () => (await fleetApi.command(serial, command.trim())).answer || t('actions.sent'))
  return (
    <Form
      label={t('actions.run')}
      submission={submission}
      isDisabled={command.trim() === ''}
      caution={t('actions.commandText', { serial, command: command.trim() })}
    >
      <Field label={t('actions.commandLine')} value={command} set={setCommand} suggest={known} />
    </Form>
  )
}
