/** Satellites and messages of the receiver, as sentences and fields of what it takes. */
import { useState } from 'preact/hooks'
import { isReadOnly, ValuesRefused } from '../../../../../runtime/lib/page/ui/http.js'
import { fieldOf } from '../../../../../runtime/lib/page/ui/model/form.js'
import { Confirm } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Field, Switch } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../runtime/lib/page/ui/parts/form/form.js'
import { troubleOf as typedTrouble } from '../../../../../runtime/lib/page/ui/parts/form/schema-field.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { t } from '../i18n/index.js'
import {
  changesOf,
  type Entered,
  formOf,
  has,
  isWeak,
  type Member,
  members,
  noticesOf,
  numbers,
  type OutputNow,
  parameterOf,
  systems,
  toggled,
  wrongOf,
} from '../model/gnss/output.js'
import { api, type Parameter } from '../station/api.js'
import { refusalOf } from './forms/setting-form.js'

const load = async () => {
  const [output, parameters] = await Promise.all([api.get<OutputNow>('/receiver-output'), api.parameters()])
  return { output, parameters }
}

export function OutputCard() {
  const { value, again } = useLoaded(load)
  if (!value) return null
  const { output, parameters } = value
  const { can, model } = output
  return (
    <Card title={t('output.title')}>
      {can.length > 0 ? (
        <OutputForm key={JSON.stringify(output)} output={output} parameters={parameters} again={again} />
      ) : (
        <p>{model ? t('output.cannot', { model }) : t('output.absent')}</p>
      )}
    </Card>
  )
}

function OutputForm(props: { output: OutputNow; parameters: readonly Parameter[]; again: () => void }) {
  const { again, output, parameters } = props
  const before = formOf(output)
  const [form, setForm] = useState<Entered>(before)
  const changes = changesOf(before, form)
  const wrong = wrongOf(before, form)
  const [refusals, setRefusals] = useState<ReadonlyMap<string, string>>(new Map())
  const troubleOf = (member: Member): string => {
    const parameter = parameters.find(({ name }) => name === parameterOf(member))
    const isEntered = form[member] !== before[member]
    const typed = parameter && isEntered ? typedTrouble(fieldOf(parameter.schema), form[member].trim()) : ''
    return typed || (refusals.get(parameterOf(member)) ?? '')
  }
  const set = (member: Member) => (text: string) => {
    setForm({ ...form, [member]: text })
    setRefusals(new Map([...refusals].filter(([name]) => name !== parameterOf(member))))
  }
  const common = (member: Member) => ({
    label: t(`output.${member}`),
    help: t(`output.${member}.help`),
    value: form[member],
    trouble: troubleOf(member),
    set: set(member),
    disabled: isReadOnly.value,
  })
  const choice = (member: Member, choices: readonly number[], word: (one: number) => string) => {
    const held = Number(form[member])
    // The options of the variant allow others too.
    const all = held > 0 && !choices.includes(held) ? [held, ...choices] : choices
    return <Field {...common(member)} options={all.map((one) => ({ value: String(one), text: word(one) }))} />
  }
  const can = (member: Member) => output.can.includes(member)
  const submission = useSubmit(async () => {
    try {
      const { errors = [] } = await api.change(changes)
      again()
      return [t('settings.done'), ...errors.map(({ message }) => message)].join(' ')
    } catch (error) {
      if (!(error instanceof ValuesRefused)) throw error
      setRefusals(error.reasons)
      throw new Error(
        refusalOf(
          error,
          members.map((member) => ({ name: parameterOf(member) })),
        ),
      )
    }
  })
  return (
    <Form
      submission={submission}
      label={t('net.save')}
      isWrong={numbers.some((member) => troubleOf(member) !== '')}
      isDisabled={wrong !== '' || Object.keys(changes).length === 0}
      ask={(answer) => (
        <Confirm title={t('output.title')} yes={t('settings.apply')} answer={answer}>
          {noticesOf(before, form).map((notice) => (
            <p key={notice}>{t(notice)}</p>
          ))}
        </Confirm>
      )}
    >
      {can('constellations') && (
        <fieldset>
          <legend>{t('output.constellations')}</legend>
          {systems.map((system) => (
            <Switch
              key={system}
              label={t(`sky.system.${system}`)}
              isOn={has(form, system)}
              set={() => setForm(toggled(form, system))}
              disabled={isReadOnly.value}
            />
          ))}
          <p class="trouble">{troubleOf('constellations')}</p>
          <p class="quiet">{t(isWeak(form) ? 'output.weak' : 'output.constellations.help')}</p>
        </fieldset>
      )}
      {can('elevationMask_deg') && <Field {...common('elevationMask_deg')} kind="whole" unit="°" />}
      {can('msm') && choice('msm', [4, 7], (one) => t(`output.msm.${one as 4 | 7}`))}
      {can('observationInterval_s') && choice('observationInterval_s', output.intervals, (one) => `${one} s`)}
      {can('referenceInterval_s') && <Field {...common('referenceInterval_s')} kind="whole" unit="s" />}
      {can('biasInterval_s') && has(form, 'glonass') && <Field {...common('biasInterval_s')} kind="whole" unit="s" />}
      {wrong && <p class="trouble">{t(wrong)}</p>}
    </Form>
  )
}
