/** Where corrections for a survey-in come from: entered, tried, then saved. With them the position is known to centimetres. */
import { useState } from 'preact/hooks'
import { figure, t, word } from '../i18n/index.js'
import { said, sentence } from '../i18n/plugins.js'
import {
  type CasterForm,
  type CorrectionSource,
  keepsSourcePassword,
  type SentSource,
  sourceForm,
  sourceFrom,
  sourceTroublesOf,
} from '../model/casters.js'
import { Action } from '../parts/action.js'
import { Card, Tone, type ToneName } from '../parts/card.js'
import { AddressFields } from '../parts/forms/address-fields.js'
import { SecretField, TextField } from '../parts/forms/text-field.js'
import { useLoaded, Waiting } from '../parts/loaded.js'
import { type SourceTested, source } from '../station/casters.js'
import { at, type Json, textAt } from '../station/document.js'
import { hello } from '../station/live.js'

const load = () => source.read()
const tones: Readonly<Record<string, ToneName>> = { streaming: 'good', waiting: 'broken', connecting: 'waiting' }

export function SourceCard({ document }: { document: Json }) {
  const loaded = useLoaded(load)
  if (at(document, 'ntrip.client') === undefined) return null
  return (
    <Card title={t('source.title')}>
      <p>{t('source.what')}</p>
      <Waiting of={loaded}>{(stored) => <Source stored={stored} document={document} again={loaded.again} />}</Waiting>
    </Card>
  )
}

function Source({ stored, document, again }: { stored: CorrectionSource; document: Json; again: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const hasSource = stored.host !== ''
  const state = textAt(document, 'ntrip.client.state')
  const text = textAt(document, 'ntrip.client.text')
  const mount = textAt(document, 'ntrip.client.mount')
  const change = async (sent: SentSource) => {
    await source.save(sent)
    again()
  }
  if (isOpen) return <SourceForm stored={stored} save={change} close={() => setOpen(false)} />
  return (
    <>
      {hasSource && (
        <p>
          {stored.host}
          {mount !== '' && ` · ${mount}`}
          {' · '}
          <Tone tone={tones[state] ?? 'idle'}>{word('source.state', state)}</Tone>
        </p>
      )}
      {text !== '' && <p class="quiet">{sentence(text)}</p>}
      <div class="actions">
        <button type="button" disabled={hello.value?.role === 'viewer'} onClick={() => setOpen(true)}>
          {t(hasSource ? 'source.edit' : 'source.add')}
        </button>
        {hasSource && (
          <Action
            label={t('source.remove')}
            caution={<p>{t('source.removeText')}</p>}
            run={async () => {
              await change({ host: '' })
              return ''
            }}
          />
        )}
      </div>
    </>
  )
}

function SourceForm(props: { stored: CorrectionSource; save: (sent: SentSource) => Promise<void>; close: () => void }) {
  const { close, save, stored } = props
  const [form, setForm] = useState<CasterForm>(() => sourceForm(stored))
  const [isChecked, setChecked] = useState(false)
  const [isShown, setShown] = useState(false)
  const [running, setRunning] = useState<'' | 'test' | 'save'>('')
  const [tested, setTested] = useState<SourceTested>()
  const [trouble, setTrouble] = useState('')
  const keeps = keepsSourcePassword(form, stored)
  const wrong = sourceTroublesOf(form)
  const troubles = isChecked ? wrong : {}
  const saidOf = (of: keyof typeof wrong) => troubles[of] && t(`casters.trouble.${troubles[of]}`)
  const set = (more: Partial<CasterForm>) => {
    setForm((now) => ({ ...now, ...more }))
    setTested(undefined)
    setTrouble('')
  }
  const run = async (what: 'test' | 'save') => {
    setChecked(true)
    setTrouble('')
    if (Object.keys(wrong).length > 0) return setTrouble(t('casters.incomplete'))
    setRunning(what)
    try {
      const sent = sourceFrom(form, stored)
      if (what === 'test') setTested(await source.test(sent))
      else {
        await save(sent)
        close()
      }
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error))
    }
    setRunning('')
  }
  const cannot = running !== '' || hello.value?.role === 'viewer'
  return (
    <form
      class="caster-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void run(tested?.ok ? 'save' : 'test')
      }}
    >
      <AddressFields form={form} set={set} said={saidOf} />
      <TextField
        label={t('casters.mount')}
        value={form.mount}
        set={(mount) => set({ mount })}
        trouble={saidOf('mount')}
        help={t('source.mountHelp')}
      />
      <TextField label={t('casters.user')} value={form.user} set={(user) => set({ user })} trouble={saidOf('user')} />
      <SecretField
        label={t('casters.password')}
        value={form.password}
        set={(password) => set({ password })}
        trouble={saidOf('password')}
        help={keeps ? t('casters.keeps') : ''}
        isShown={isShown}
        show={setShown}
      />
      <label class="switch">
        <input
          type="checkbox"
          checked={form.tls}
          onChange={({ currentTarget }) => set({ tls: currentTarget.checked })}
        />
        {t('casters.tls')}
      </label>
      <div role="status">
        {running === 'test' && <p>{t('source.testing')}</p>}
        {tested && <Answer tested={tested} />}
        {trouble && <p class="trouble">{trouble}</p>}
      </div>
      <div class="buttons">
        <button type="button" onClick={close}>
          {t('confirm.no')}
        </button>
        {tested && (
          <button type="button" class={tested.ok ? 'main' : ''} disabled={cannot} onClick={() => void run('save')}>
            {t(tested.ok ? 'casters.save' : 'casters.saveAnyway')}
          </button>
        )}
        {!tested?.ok && (
          <button type="button" class="main" disabled={cannot} onClick={() => void run('test')}>
            {t(tested ? 'casters.testAgain' : 'casters.test')}
          </button>
        )}
      </div>
    </form>
  )
}

/** What the test found, and what to do. */
function Answer({ tested: { code, distance, messages, mount, ok, text } }: { tested: SourceTested }) {
  const known = word('source.test', code)
  return (
    <div class="tested">
      <p class="large">
        <Tone tone={code === 'ok' ? 'good' : ok ? 'warning' : 'broken'}>{known === code ? said(text) : known}</Tone>
      </p>
      {mount !== '' && (
        <p>
          {t('casters.mount')} {mount}
          {distance >= 0 && ` · ${t('source.away', { km: figure(distance / 1_000, 1) })}`}
        </p>
      )}
      {messages.length > 0 && <p class="quiet">RTCM {messages.join(', ')}</p>}
    </div>
  )
}
