/** Satellites and messages of the receiver, as sentences and fields of what it takes. */
import { useId, useState } from 'preact/hooks'
import { Confirm } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, Outcome } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { t } from '../i18n/index.js'
import { fieldOf } from '../model/form.js'
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
import { hello } from '../station/live.js'
import { useFocusWrong } from './forms/focus-wrong.js'
import { troubleOf as textTrouble } from './forms/trouble.js'

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
  const [isAsking, setAsking] = useState(false)
  const [answer, setAnswer] = useState({ text: '', isTrouble: false })
  const changes = changesOf(before, form)
  const wrong = wrongOf(before, form)
  const [refusals, setRefusals] = useState<ReadonlyMap<string, string>>(new Map())
  const { form: fields, focusWrong } = useFocusWrong<HTMLFormElement>()
  const troubleOf = (member: Member): string => {
    const parameter = parameters.find(({ name }) => name === parameterOf(member))
    const isEntered = form[member] !== before[member]
    const typed = parameter && isEntered ? textTrouble(fieldOf(parameter.schema), form[member].trim()) : ''
    return typed || (refusals.get(parameterOf(member)) ?? '')
  }
  const isViewer = hello.value?.role === 'viewer'
  const set = (member: Member) => (text: string) => {
    setForm({ ...form, [member]: text })
    setRefusals(new Map([...refusals].filter(([name]) => name !== parameterOf(member))))
  }
  const common = <M extends Member>(member: M) => ({ member, form, trouble: troubleOf(member), set: set(member) })
  const can = (member: Member) => output.can.includes(member)
  const save = async () => {
    try {
      const { result, errors = [] } = await api.change(changes)
      const isTrouble = result === 'failed'
      setRefusals(new Map(errors.map(({ name, message }) => [name, message])))
      const others = errors.filter(({ name }) => !members.some((member) => parameterOf(member) === name))
      setAnswer({
        text: [t(isTrouble ? 'settings.refused' : 'settings.done'), ...others.map(({ message }) => message)].join(' '),
        isTrouble,
      })
      if (isTrouble) focusWrong()
      else again()
    } catch (error) {
      setAnswer({ text: error instanceof Error ? error.message : String(error), isTrouble: true })
    }
  }
  return (
    <form
      ref={fields}
      onSubmit={(event) => {
        event.preventDefault()
        if (numbers.some((member) => troubleOf(member) !== '')) focusWrong()
        else setAsking(true)
      }}
    >
      {can('constellations') && (
        <fieldset>
          <legend>{t('output.constellations')}</legend>
          {systems.map((system) => (
            <label key={system} class="switch">
              <input
                type="checkbox"
                disabled={isViewer}
                checked={has(form, system)}
                onChange={() => setForm(toggled(form, system))}
              />
              {t(`sky.system.${system}`)}
            </label>
          ))}
          <p class="trouble">{troubleOf('constellations')}</p>
          <p class="quiet">{t(isWeak(form) ? 'output.weak' : 'output.constellations.help')}</p>
        </fieldset>
      )}
      {can('elevationMask_deg') && <NumberField {...common('elevationMask_deg')} unit="°" />}
      {can('msm') && <Choice {...common('msm')} choices={[4, 7]} word={(one) => t(`output.msm.${one as 4 | 7}`)} />}
      {can('observationInterval_s') && (
        <Choice {...common('observationInterval_s')} choices={output.intervals} word={(one) => `${one} s`} />
      )}
      {can('referenceInterval_s') && <NumberField {...common('referenceInterval_s')} unit="s" />}
      {can('biasInterval_s') && has(form, 'glonass') && <NumberField {...common('biasInterval_s')} unit="s" />}
      {wrong && <p class="trouble">{t(wrong)}</p>}
      <div class="buttons">
        <button type="submit" class="main" disabled={isViewer || wrong !== '' || Object.keys(changes).length === 0}>
          {t('net.save')}
        </button>
      </div>
      <Outcome {...answer} />
      {isAsking && (
        <Confirm
          title={t('output.title')}
          yes={t('settings.apply')}
          answer={(isYes) => {
            setAsking(false)
            if (isYes) void save()
          }}
        >
          {noticesOf(before, form).map((notice) => (
            <p key={notice}>{t(notice)}</p>
          ))}
        </Confirm>
      )}
    </form>
  )
}

interface FieldProps {
  member: Exclude<Member, 'constellations'>
  form: Entered
  /** What is wrong with it. */
  trouble: string
  set: (text: string) => void
}

function NumberField({ member, unit, form, trouble, set }: FieldProps & { unit: string }) {
  const id = useId()
  return (
    <div>
      <label for={id}>{t(`output.${member}`)}</label>
      <span class="with-unit">
        <input
          id={id}
          type="text"
          inputMode="numeric"
          autocomplete="off"
          disabled={hello.value?.role === 'viewer'}
          value={form[member]}
          aria-invalid={trouble !== ''}
          aria-describedby={`${id}-help`}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
        <span>{unit}</span>
      </span>
      <p id={`${id}-help`} class="quiet">
        {t(`output.${member}.help`)} <span class="trouble">{trouble}</span>
      </p>
    </div>
  )
}

function Choice(props: FieldProps & { choices: readonly number[]; word: (one: number) => string }) {
  const { choices, form, member, set, trouble, word } = props
  const id = useId()
  const held = Number(form[member])
  // The options of the variant allow others too.
  const all = held > 0 && !choices.includes(held) ? [held, ...choices] : choices
  return (
    <div>
      <label for={id}>{t(`output.${member}`)}</label>
      <select
        id={id}
        disabled={hello.value?.role === 'viewer'}
        value={form[member]}
        aria-invalid={trouble !== ''}
        aria-describedby={`${id}-help`}
        onChange={({ currentTarget }) => set(currentTarget.value)}
      >
        {all.map((one) => (
          <option key={one} value={one}>
            {word(one)}
          </option>
        ))}
      </select>
      <p id={`${id}-help`} class="quiet">
        {t(`output.${member}.help`)} <span class="trouble">{trouble}</span>
      </p>
    </div>
  )
}
