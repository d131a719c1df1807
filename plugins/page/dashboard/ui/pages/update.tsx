import { useRef, useState } from 'preact/hooks'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import {
  at,
  type Json,
  listAt,
  type StationError,
  textAt,
} from '../../../../../runtime/lib/page/ui/station/document.js'
import { moment, t } from '../i18n/index.js'
import { errorText, said, sentence } from '../i18n/plugin-texts.js'
import { markOf, takenBack, updateOf, updateSteps } from '../model/update.js'
import { NewerVersion } from '../parts/newer-version.js'
import { api } from '../station/api.js'
import { document$, hello } from '../station/live.js'
import { type Upload, upload } from '../station/upload.js'

/** Result of the last attempt, shown at its form. */
interface Answer {
  to: 'file' | 'url'
  text: string
  isTrouble: boolean
}

function Answered({ answer, to }: { answer: Answer | undefined; to: Answer['to'] }) {
  const own = answer?.to === to ? answer : undefined
  return (
    <>
      <p role="status">{own && !own.isTrouble && own.text}</p>
      <p class="trouble" role="alert">
        {own?.isTrouble && own.text}
      </p>
    </>
  )
}

interface Way {
  answer: Answer | undefined
  tell: (answer: Answer | undefined) => void
  isViewer: boolean
}

/** The version that runs, and a way to another one: from this device, or from an address that the station reaches. */
export function UpdatePage() {
  const document = document$.value
  const [answer, tell] = useState<Answer>()
  if (at(document, 'base.update') === undefined) return <p>{t('update.none')}</p>
  const way = { answer, tell, isViewer: hello.value?.role === 'viewer' }
  return (
    <>
      <Running document={document} />
      <NewerVersion />
      <FromFile {...way} />
      <FromAddress {...way} />
    </>
  )
}

function Running({ document }: { document: Json | undefined }) {
  const { failure, isTakenBack, percent, step } = updateOf(document)
  const parts = takenBack(failure)
  const errors = listAt<StationError>(document, 'base.state.errors').filter(
    ({ code }) => code.startsWith('update') && code !== 'update-failed',
  )
  return (
    <Card title={t('update.now')}>
      <p class="large">rtk-base {hello.value?.version}</p>
      {failure !== '' && (
        <div class="preview" role="alert">
          <p>
            <Tone tone="warning">{t(isTakenBack ? 'update.takenBack' : 'update.refused')}</Tone>
          </p>
          <p class={isTakenBack ? '' : 'trouble'}>
            {parts ? t('update.because', { ...parts, cause: said(parts.cause) }) : sentence(failure)}
          </p>
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
        failure === '' && <p role="status">{t('update.idle')}</p>
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

function FromFile({ answer, tell, isViewer }: Way) {
  const [share, setShare] = useState<number>()
  const file = useRef<HTMLInputElement>(null)
  const running = useRef<Upload<{ version?: string }> | undefined>(undefined)
  const report = (text: string, isTrouble: boolean) => {
    setShare(undefined)
    tell({ to: 'file', text, isTrouble })
  }
  const send = async (event: Event) => {
    event.preventDefault()
    const chosen = file.current?.files?.[0]
    if (!chosen) return
    tell(undefined)
    setShare(0)
    const target = { method: 'POST', path: '/update-firmware?esp' } as const
    running.current = upload({ ...target, lost: t('update.lost'), stopped: t('update.stopped') }, chosen, setShare)
    try {
      const { version = '' } = await running.current.done
      report(t('update.installed', { version }), false)
    } catch (error) {
      report((error as Error).message, true)
    }
  }
  return (
    <Card title={t('update.file')}>
      <p class="quiet">{t('update.cost')}</p>
      <form onSubmit={send}>
        <label for="image">{t('update.choose')}</label>
        <input id="image" ref={file} type="file" accept=".img" disabled={isViewer || share !== undefined} />
        <div class="buttons">
          {share !== undefined && (
            <button type="button" onClick={() => running.current?.abort()}>
              {t('update.stop')}
            </button>
          )}
          <button type="submit" class="main" disabled={isViewer || share !== undefined}>
            {t('update.send')}
          </button>
        </div>
      </form>
      {share !== undefined && (
        <>
          <label for="share">{t('update.sending', { percent: Math.round(share * 100) })}</label>
          <progress id="share" max={1} value={share} />
        </>
      )}
      <Answered answer={answer} to="file" />
    </Card>
  )
}

function FromAddress({ answer, tell, isViewer }: Way) {
  const [url, setUrl] = useState('')
  const fetchIt = async (event: Event) => {
    event.preventDefault()
    try {
      tell({ to: 'url', text: await api.run('firmware', { url: url.trim() }), isTrouble: false })
    } catch (error) {
      tell({ to: 'url', text: (error as Error).message, isTrouble: true })
    }
  }
  return (
    <Card title={t('update.url')}>
      <form onSubmit={fetchIt}>
        <label for="url">{t('update.address')}</label>
        <input
          id="url"
          type="url"
          value={url}
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          disabled={isViewer}
        />
        <div class="buttons">
          <button type="submit" class="main" disabled={isViewer || url === ''}>
            {t('update.fetch')}
          </button>
        </div>
      </form>
      <Answered answer={answer} to="url" />
    </Card>
  )
}
