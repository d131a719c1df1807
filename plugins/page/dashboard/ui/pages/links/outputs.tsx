import { useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../../runtime/lib/page/ui/http.js'
import { Confirm } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, Tone, type ToneName } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { Switch } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { type Json, listAt, numberAt, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { toneOf } from '../../../../../../runtime/lib/page/ui/station/links.js'
import { figure, t, word } from '../../i18n/index.js'
import { said } from '../../i18n/plugin-texts.js'
import { castersOf, type OutputRow, type OutputState, outputRows, pushStateOf } from '../../model/outputs.js'
import { api } from '../../station/api.js'

const tones: Readonly<Record<OutputState, ToneName>> = {
  on: 'good',
  down: 'broken',
  waiting: 'warning',
  off: 'idle',
  unset: 'idle',
}

/** Every way out, with its state in words, and one switch or link each. */
export function Outputs({ document }: { document: Json }) {
  return (
    <Card title={t('outputs.title')}>
      {outputRows(document).map((row) => (
        <Row key={row.output} row={row} document={document} />
      ))}
    </Card>
  )
}

function Row({ row, document }: { row: OutputRow; document: Json }) {
  const { output, parameter, rovers, state, to } = row
  const detail = detailOf(row, document)
  // As the list of casters says it.
  const push = output === 'server' ? pushStateOf(document) : undefined
  return (
    <div class="command">
      <div class="way">
        <h3>{t(`guide.output.${output}`)}</h3>
        {parameter ? (
          <OutputSwitch row={row} parameter={parameter} />
        ) : (
          to && (
            <a class="button" href={`#/${to}`} aria-label={t('outputs.setUpOf', { name: t(`guide.output.${output}`) })}>
              {t('outputs.setUp')}
            </a>
          )
        )}
      </div>
      <p>
        <Tone tone={push ? toneOf(push) : tones[state]}>
          {push
            ? word('links.push', push)
            : t(state === 'unset' || state === 'waiting' ? `outputs.${state}` : `guide.state.${state}`)}
        </Tone>
        {detail && <span> · {detail}</span>}
        {state === 'on' && rovers !== undefined && (
          <span> · {t(rovers === 1 ? 'outputs.rover' : 'outputs.rovers', { count: figure(rovers, 0) })}</span>
        )}
      </p>
      <p class="quiet">{t(`outputs.hint.${output}`)}</p>
      {output === 'caster' && (
        <a class="target" href="#/rovers">
          {t('outputs.logins')}
        </a>
      )}
    </div>
  )
}

/** Where it is reached, or why it does not work. */
function detailOf({ output, state }: OutputRow, document: Json): string {
  const port = (path: string) => {
    const number = numberAt(document, path) ?? 0
    return number > 0 ? t('outputs.port', { port: number }) : ''
  }
  if (state === 'off' || state === 'unset') return ''
  switch (output) {
    case 'udp':
      return port('udp.port')
    case 'caster':
      return [port('ntrip.caster.port'), listAt<string>(document, 'ntrip.caster.mounts').join(', ')]
        .filter(Boolean)
        .join(' · ')
    case 'server': {
      const { good, wanted } = castersOf(document)
      return wanted > 1 ? t('outputs.casters', { good, wanted }) : ''
    }
    case 'mqtt':
      return textAt(document, 'mqtt.host')
    case 'tcp':
      return port('rtcm_tcp.port')
    case 'serial':
      return [textAt(document, 'rtcm_serial.port'), said(textAt(document, 'rtcm_serial.text'))]
        .filter(Boolean)
        .join(' · ')
  }
}

/** Off takes the corrections from rovers, so it is asked for; on is done at once. */
function OutputSwitch({ row: { output, rovers = 0, state }, parameter }: { row: OutputRow; parameter: string }) {
  const [isAsking, setAsking] = useState(false)
  const { answer, isRunning, run } = useSubmit(async (wanted: boolean) => {
    await api.change({ [parameter]: wanted ? 1 : 0 })
    return ''
  })
  const isOn = state !== 'off'
  const name = t(`guide.output.${output}`)
  return (
    <div>
      <Switch
        label={t(isOn ? 'guide.state.on' : 'guide.state.off')}
        spoken={name}
        isOn={isOn}
        isRunning={isRunning}
        set={(wanted) => (wanted ? void run(true) : setAsking(true))}
        disabled={isReadOnly.value}
      />
      <p class="trouble" role="status">
        {answer.text}
      </p>
      {isAsking && (
        <Confirm
          title={t('outputs.off', { name })}
          yes={t('outputs.offYes')}
          answer={(isYes) => {
            setAsking(false)
            if (isYes) void run(false)
          }}
        >
          <p>
            {output === 'mqtt'
              ? t('outputs.offMqtt')
              : rovers > 0
                ? t(rovers === 1 ? 'outputs.offRover' : 'outputs.offRovers', { count: rovers })
                : t('outputs.offNobody')}
          </p>
        </Confirm>
      )}
    </div>
  )
}
