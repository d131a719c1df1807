/** Satellites and messages of the receiver, as sentences and fields of what it takes. */
import { useId, useState } from 'preact/hooks'
import { Confirm } from '../../../../runtime/ui/parts/action.js'
import { Card, Outcome } from '../../../../runtime/ui/parts/card.js'
import { useLoaded } from '../../../../runtime/ui/parts/loaded.js'
import { t } from '../i18n/index.js'
import {
  changesOf,
  type Entered,
  formOf,
  has,
  isWeak,
  type Member,
  noticesOf,
  type OutputNow,
  systems,
  toggled,
  wrongOf,
} from '../model/gnss/output.js'
import { api } from '../station/api.js'
import { hello } from '../station/live.js'

const load = () => api.get<OutputNow>('/receiver-output')

export function OutputCard() {
  const { value: output, again } = useLoaded(load)
  if (!output) return null
  const { can, model } = output
  return (
    <Card title={t('output.title')}>
      {can.length > 0 ? (
        <OutputForm key={JSON.stringify(output)} output={output} again={again} />
      ) : (
        <p>{model ? t('output.cannot', { model }) : t('output.absent')}</p>
      )}
    </Card>
  )
}

function OutputForm({ output, again }: { output: OutputNow; again: () => void }) {
  const before = formOf(output)
  const [form, setForm] = useState<Entered>(before)
  const [isAsking, setAsking] = useState(false)
  const [answer, setAnswer] = useState({ text: '', isTrouble: false })
  const changes = changesOf(before, form)
  const wrong = wrongOf(before, form)
  const isViewer = hello.value?.role === 'viewer'
  const set = (member: Member) => (text: string) => setForm({ ...form, [member]: text })
  const can = (member: Member) => output.can.includes(member)
  const save = async () => {
    try {
      const { result, errors = [] } = await api.change(changes)
      const isTrouble = result === 'failed'
      setAnswer({
        text: [t(isTrouble ? 'settings.refused' : 'settings.done'), ...errors.map(({ message }) => message)].join(' '),
        isTrouble,
      })
      if (!isTrouble) again()
    } catch (error) {
      setAnswer({ text: error instanceof Error ? error.message : String(error), isTrouble: true })
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setAsking(true)
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
          <p class="quiet">{t(isWeak(form) ? 'output.weak' : 'output.constellations.help')}</p>
        </fieldset>
      )}
      {can('elevationMask_deg') && (
        <NumberField member="elevationMask_deg" unit="°" form={form} set={set('elevationMask_deg')} />
      )}
      {can('msm') && (
        <Choice
          member="msm"
          choices={[4, 7]}
          form={form}
          set={set('msm')}
          word={(one) => t(`output.msm.${one as 4 | 7}`)}
        />
      )}
      {can('observationInterval_s') && (
        <Choice
          member="observationInterval_s"
          choices={output.intervals}
          form={form}
          set={set('observationInterval_s')}
          word={(one) => `${one} s`}
        />
      )}
      {can('referenceInterval_s') && (
        <NumberField member="referenceInterval_s" unit="s" form={form} set={set('referenceInterval_s')} />
      )}
      {can('biasInterval_s') && has(form, 'glonass') && (
        <NumberField member="biasInterval_s" unit="s" form={form} set={set('biasInterval_s')} />
      )}
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
  set: (text: string) => void
}

function NumberField({ member, unit, form, set }: FieldProps & { unit: string }) {
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
          aria-describedby={`${id}-help`}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
        <span>{unit}</span>
      </span>
      <p id={`${id}-help`} class="quiet">
        {t(`output.${member}.help`)}
      </p>
    </div>
  )
}

function Choice(props: FieldProps & { choices: readonly number[]; word: (one: number) => string }) {
  const { choices, form, member, set, word } = props
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
        {t(`output.${member}.help`)}
      </p>
    </div>
  )
}
