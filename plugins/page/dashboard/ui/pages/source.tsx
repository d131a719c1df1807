/** Where corrections for a survey-in come from: entered, tried, then saved. With them the position is known to centimetres. */
import { useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, Tone, type ToneName } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Switch } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { at, type Json, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { figure, t, word } from '../i18n/index.js'
import { said, sentence } from '../i18n/plugin-texts.js'
import {
  type CasterForm,
  type CorrectionSource,
  keepsSourcePassword,
  type SentSource,
  sourceForm,
  sourceFrom,
  sourceTroublesOf,
} from '../model/casters.js'
import { AddressFields, LoginFields } from '../parts/forms/caster-fields.js'
import { TriedForm, useTried } from '../parts/forms/tried-form.js'
import { type SourceTested, source } from '../station/casters.js'

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
        <button type="button" disabled={isReadOnly.value} onClick={() => setOpen(true)}>
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
  const wrong = sourceTroublesOf(form)
  const isWrong = Object.keys(wrong).length > 0
  const tried = useTried<SourceTested>(
    isWrong,
    () => source.test(sourceFrom(form, stored)),
    async () => {
      await save(sourceFrom(form, stored))
      close()
    },
  )
  const troubles = tried.isChecked ? wrong : {}
  const set = (more: Partial<CasterForm>) => {
    setForm((now) => ({ ...now, ...more }))
    tried.forget()
  }
  return (
    <TriedForm
      tried={tried}
      isWrong={isWrong}
      testing={t('source.testing')}
      answer={(tested) => <Answer tested={tested} />}
      close={close}
    >
      <AddressFields form={form} set={set} troubles={troubles} />
      <LoginFields
        {...{ form, set, troubles }}
        hasUser
        mountHelp={t('source.mountHelp')}
        keepsPassword={keepsSourcePassword(form, stored)}
      />
      <Switch label={t('casters.tls')} isOn={form.tls} set={(tls) => set({ tls })} />
    </TriedForm>
  )
}

/** Result of the test, with its advice. */
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
