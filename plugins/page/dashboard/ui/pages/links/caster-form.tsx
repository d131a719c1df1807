/** One caster to push to: entered, tried, then saved. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Tone, type ToneName } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { Options, Switch } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { t } from '../../i18n/index.js'
import { sentence } from '../../i18n/plugin-texts.js'
import {
  type Caster,
  casterFrom,
  type CasterForm as Form,
  formOf,
  keepsPassword,
  type PresetName,
  presets,
  type SentCaster,
  troublesOf,
} from '../../model/casters.js'
import { AddressFields, LoginFields } from '../../parts/forms/caster-fields.js'
import { TriedForm, useTried } from '../../parts/forms/tried-form.js'
import { type CasterTested, type CheckState, casterChecks, casters } from '../../station/casters.js'

export function CasterForm(props: {
  preset: PresetName
  /** The stored caster that is edited. */
  before?: Caster | undefined
  /** The stored ones. */
  all: readonly Caster[]
  save: (caster: SentCaster) => Promise<void>
  close: () => void
}) {
  const { all, before, close, preset, save } = props
  const [form, setForm] = useState<Form>(() => (before ? formOf(before) : presets[preset]))
  const fields = useRef<HTMLFormElement>(null)
  useEffect(() => {
    fields.current?.querySelector<HTMLInputElement>('.entry input')?.focus()
  }, [])

  const keeps = keepsPassword(form, before, all)
  const wrong = troublesOf(form, keeps)
  const isWrong = Object.keys(wrong).length > 0
  const tried = useTried<CasterTested>(
    isWrong,
    () => casters.test(casterFrom(form, before)),
    async () => {
      await save(casterFrom(form, before))
      close()
    },
  )
  const troubles = tried.isChecked ? wrong : {}
  const set = (more: Partial<Form>) => {
    setForm((now) => ({ ...now, ...more }))
    tried.forget()
  }
  const isAddressWrong = tried.isChecked && (wrong.host !== undefined || wrong.port !== undefined)

  return (
    <TriedForm
      tried={tried}
      isWrong={isWrong}
      testing={t('casters.testing')}
      help={t('casters.testHelp')}
      answer={(tested) => <Answer tested={tested} isTls={form.tls} />}
      close={close}
      form={fields}
    >
      <p class="rule">{t(`casters.rule.${preset}`)}</p>
      {preset === 'own' && <AddressFields {...{ form, set, troubles }} />}
      <LoginFields {...{ form, set, troubles }} hasUser={form.version === 2} keepsPassword={keeps} />
      <details open={preset !== 'own' && isAddressWrong}>
        <summary>{t(preset === 'own' ? 'casters.protocol' : 'casters.address')}</summary>
        {preset !== 'own' && <AddressFields {...{ form, set, troubles }} />}
        <Options
          label={t('casters.version')}
          options={[1, 2] as const}
          textOf={(version) => t(`casters.version.${version}`)}
          value={form.version}
          set={(version) => set({ version })}
        />
        <Switch label={t('casters.tls')} isOn={form.tls} set={(tls) => set({ tls })} />
      </details>
    </TriedForm>
  )
}

const tones: Readonly<Record<CheckState, ToneName>> = { ok: 'good', failed: 'broken', unknown: 'idle' }

/** Step by step: how far it came, what is wrong, and what to do. */
function Answer({ tested, isTls }: { tested: CasterTested; isTls: boolean }) {
  const { checks, code, ok, text, advice } = tested
  const isGood = ok && code === 'ok'
  // Many casters list a mountpoint only while it is fed.
  const isUnlisted = checks.mount === 'failed' && code !== 'mount' && code !== 'taken'
  return (
    <div class="tested">
      <p class="large">
        <Tone tone={isGood ? 'good' : ok ? 'warning' : 'broken'}>
          {t(isGood ? 'casters.good' : ok ? 'casters.almost' : 'casters.bad')}
        </Tone>
      </p>
      <ul class="list">
        {casterChecks
          .filter((one) => one !== 'tls' || isTls)
          .map((one) => (
            <li key={one}>
              {one === 'mount' && isUnlisted ? (
                <Tone tone="idle">{t('casters.unlisted')}</Tone>
              ) : (
                <Tone tone={tones[checks[one]]}>
                  {t(checks[one] === 'failed' ? `casters.failed.${one}` : `casters.check.${one}`)}
                  {checks[one] === 'unknown' && ` · ${t('casters.check.unknown')}`}
                </Tone>
              )}
            </li>
          ))}
      </ul>
      <p>
        {sentence(text)} {!isGood && sentence(advice)}
      </p>
    </div>
  )
}
