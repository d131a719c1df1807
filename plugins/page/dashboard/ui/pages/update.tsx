import { useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import {
  at,
  type Json,
  listAt,
  type StationError,
  textAt,
} from '../../../../../runtime/lib/page/ui/station/document.js'
import { moment, t } from '../i18n/index.js'
import { errorText } from '../i18n/plugin-texts.js'
import { markOf, updateOf, updateSteps } from '../model/update.js'
import { UploadForm } from '../parts/forms/upload-form.js'
import { NewerVersion } from '../parts/newer-version.js'
import { api } from '../station/api.js'
import { document$, hello } from '../station/live.js'

/** The version that runs, and a way to another one: from this device, or from an address that the station reaches. */
export function UpdatePage() {
  const document = document$.value
  if (at(document, 'base.update') === undefined) return <p>{t('update.none')}</p>
  return (
    <>
      <Running document={document} />
      <NewerVersion />
      <Card title={t('update.file')}>
        <p class="quiet">{t('update.cost')}</p>
        <UploadForm<{ version?: string }>
          label={t('update.choose')}
          accept=".img"
          send={t('update.send')}
          target={() => ({
            method: 'POST',
            path: '/update-firmware?esp',
            lost: t('update.lost'),
            stopped: t('update.stopped'),
          })}
          done={({ version = '' }) => t('update.installed', { version })}
        />
      </Card>
      <FromAddress />
    </>
  )
}

function Running({ document }: { document: Json | undefined }) {
  const { failure, isTakenBack, percent, step } = updateOf(document)
  const errors = listAt<StationError>(document, 'base.state.errors').filter(
    ({ code }) => code.startsWith('update') && code !== 'update-failed',
  )
  return (
    <Card title={t('update.now')}>
      <p class="large">rtk-base {hello.value?.version}</p>
      {failure && (
        <div class="preview" role="alert">
          <p>
            <Tone tone="warning">{t(isTakenBack ? 'update.takenBack' : 'update.refused')}</Tone>
          </p>
          <p class={isTakenBack ? '' : 'trouble'}>{errorText(failure)}</p>
          {isTakenBack && <p class="quiet">{t('update.safe')}</p>}
        </div>
      )}
      {step ? (
        <ol class="steps" aria-label={t('update.steps')}>
          {updateSteps.map((one) => {
            const mark = markOf(one, step)
            return (
              <li key={one} class={`step-${mark}`} aria-current={mark === 'now' ? 'step' : undefined}>
                {t(`update.step.${one}`)}
                {mark === 'now' && one !== 'restart' && (
                  <progress max={100} value={percent} aria-label={t(`update.step.${one}`)} />
                )}
                {mark === 'now' && <span class="step-about">{t(`update.about.${one}`)}</span>}
              </li>
            )
          })}
        </ol>
      ) : (
        !failure && <p role="status">{t('update.idle')}</p>
      )}
      {errors.map((error) => (
        <p key={error.code} class="trouble">
          {errorText(error)}
        </p>
      ))}
      {(step === 'transfer' || step === 'verify') && (
        <Action label={t('update.stop')} run={() => api.run('ota-cancel')} />
      )}
      <details>
        <summary>{t('update.details')}</summary>
        <FigureList
          rows={[
            [t('update.slotName'), textAt(document, 'esp.partition')],
            [t('update.digest'), <code key="digest">{hello.value?.sha256.slice(0, 16)}</code>],
            [t('update.built'), dateOf(textAt(document, 'esp.built'))],
          ]}
        />
      </details>
    </Card>
  )
}

const dateOf = (iso: string) => (Number.isNaN(Date.parse(iso)) ? '' : moment(Date.parse(iso) / 1_000))

function FromAddress() {
  const [url, setUrl] = useState('')
  const submission = useSubmit(() => api.run('firmware', { url: url.trim() }))
  return (
    <Card title={t('update.url')}>
      <Form submission={submission} label={t('update.fetch')} isDisabled={url === ''}>
        <Field kind="url" label={t('update.address')} value={url} set={setUrl} disabled={isReadOnly.value} />
      </Form>
    </Card>
  )
}
