/** One caster to push to: entered, tried, then saved. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Tone, type ToneName } from '../../../../../../runtime/lib/page/ui/parts/card.js'
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
import { AddressFields } from '../../parts/forms/address-fields.js'
import { SecretField, TextField } from '../../parts/forms/text-field.js'
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
  const [isShown, setShown] = useState(false)
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
  const said = (of: keyof typeof wrong) => troubles[of] && t(`casters.trouble.${troubles[of]}`)
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
      {preset === 'own' && <AddressFields form={form} set={set} said={said} />}
      <TextField
        label={t('casters.mount')}
        value={form.mount}
        set={(mount) => set({ mount })}
        trouble={said('mount')}
      />
      {form.version === 2 && (
        <TextField label={t('casters.user')} value={form.user} set={(user) => set({ user })} trouble={said('user')} />
      )}
      <SecretField
        label={t('casters.password')}
        value={form.password}
        set={(password) => set({ password })}
        trouble={said('password')}
        help={keeps ? t('casters.keeps') : ''}
        isShown={isShown}
        show={setShown}
      />
      <details open={preset !== 'own' && isAddressWrong}>
        <summary>{t(preset === 'own' ? 'casters.protocol' : 'casters.address')}</summary>
        {preset !== 'own' && <AddressFields form={form} set={set} said={said} />}
        <fieldset>
          <legend>{t('casters.version')}</legend>
          {([1, 2] as const).map((version) => (
            <label key={version} class="switch">
              <input type="radio" name="version" checked={form.version === version} onChange={() => set({ version })} />
              {t(`casters.version.${version}`)}
            </label>
          ))}
        </fieldset>
        <label class="switch">
          <input
            type="checkbox"
            checked={form.tls}
            onChange={({ currentTarget }) => set({ tls: currentTarget.checked })}
          />
          {t('casters.tls')}
        </label>
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
