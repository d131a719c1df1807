/** One caster to push to: entered, tried, then saved. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../../i18n/index.js'
import { sentence } from '../../i18n/plugins.js'
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
import { Tone, type ToneName } from '../../parts/card.js'
import { AddressFields } from '../../parts/forms/address-fields.js'
import { SecretField, TextField } from '../../parts/forms/text-field.js'
import { type CasterTested, type CheckState, casterChecks, casters } from '../../station/casters.js'
import { hello } from '../../station/live.js'

const textOfError = (error: unknown) => (error instanceof Error ? error.message : String(error))

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
  const [isChecked, setChecked] = useState(false)
  const [isShown, setShown] = useState(false)
  const [running, setRunning] = useState<'' | 'test' | 'save'>('')
  const [tested, setTested] = useState<CasterTested>()
  const [trouble, setTrouble] = useState('')
  const fields = useRef<HTMLFormElement>(null)
  useEffect(() => {
    fields.current?.querySelector<HTMLInputElement>('.entry input')?.focus()
  }, [])

  const keeps = keepsPassword(form, before, all)
  const wrong = troublesOf(form, keeps)
  const troubles = isChecked ? wrong : {}
  const said = (of: keyof typeof wrong) => troubles[of] && t(`casters.trouble.${troubles[of]}`)
  /** What was tried is another caster than the one in the fields now. */
  const set = (more: Partial<Form>) => {
    setForm((now) => ({ ...now, ...more }))
    setTested(undefined)
    setTrouble('')
  }
  const isAddressWrong = isChecked && (wrong.host !== undefined || wrong.port !== undefined)

  const run = async (what: 'test' | 'save', fn: (caster: SentCaster) => Promise<void>) => {
    setChecked(true)
    setTrouble('')
    if (Object.keys(wrong).length > 0) return setTrouble(t('casters.incomplete'))
    setRunning(what)
    try {
      await fn(casterFrom(form, before))
    } catch (error) {
      setTrouble(textOfError(error))
    }
    setRunning('')
  }
  const test = () => run('test', async (caster) => setTested(await casters.test(caster)))
  const keep = () =>
    run('save', async (caster) => {
      await save(caster)
      close()
    })
  const isViewer = hello.value?.role === 'viewer'

  return (
    <form
      ref={fields}
      class="caster-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void (tested?.ok ? keep() : test())
      }}
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
      <div role="status">
        {running === 'test' && <p>{t('casters.testing')}</p>}
        {tested && <Answer tested={tested} isTls={form.tls} />}
        {trouble && <p class="trouble">{trouble}</p>}
      </div>
      {!tested && <p class="quiet">{t('casters.testHelp')}</p>}
      <div class="buttons">
        <button type="button" onClick={close}>
          {t('confirm.no')}
        </button>
        {(tested || (trouble && Object.keys(wrong).length === 0)) && (
          <button
            type="button"
            class={tested?.ok ? 'main' : ''}
            disabled={running !== '' || isViewer}
            onClick={() => void keep()}
          >
            {t(running === 'save' ? 'commands.running' : tested?.ok ? 'casters.save' : 'casters.saveAnyway')}
          </button>
        )}
        {!tested?.ok && (
          <button type="button" class="main" disabled={running !== '' || isViewer} onClick={() => void test()}>
            {t(running === 'test' ? 'commands.running' : tested ? 'casters.testAgain' : 'casters.test')}
          </button>
        )}
      </div>
    </form>
  )
}

const tones: Readonly<Record<CheckState, ToneName>> = { ok: 'good', failed: 'broken', unknown: 'idle' }

/** Step by step: how far it came, what is wrong, and what to do. */
function Answer({ tested, isTls }: { tested: CasterTested; isTls: boolean }) {
  const { checks, code, ok, text, advice } = tested
  const isGood = ok && code === 'ok'
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
              <Tone tone={tones[checks[one]]}>
                {t(checks[one] === 'failed' ? `casters.failed.${one}` : `casters.check.${one}`)}
                {checks[one] === 'unknown' && ` · ${t('casters.check.unknown')}`}
              </Tone>
            </li>
          ))}
      </ul>
      {!isGood && <p>{sentence(advice)}</p>}
      <p class="quiet">{sentence(text)}</p>
    </div>
  )
}
