import { useRef, useState } from 'preact/hooks'
import { t, word } from '../i18n/index.js'
import { Card } from '../parts/card.js'
import { api } from '../station/api.js'
import { at, type Json, listAt, numberAt, type StationError, textAt } from '../station/document.js'
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
      <FromFile {...way} />
      <FromAddress {...way} />
    </>
  )
}

function Running({ document }: { document: Json | undefined }) {
  const state = textAt(document, 'base.update.state')
  const errors = listAt<StationError>(document, 'base.state.errors').filter(({ code }) => code.startsWith('update'))
  return (
    <Card title={t('update.now')}>
      <p>
        rtk-base {hello.value?.version} · {t('update.slot', { slot: textAt(document, 'esp.partition') || '–' })}
      </p>
      <p class="quiet">
        {t('update.digest')} <code>{hello.value?.sha256.slice(0, 16)}</code>
      </p>
      <p role="status">
        {t('update.state', { state: word('update.is', state) })}
        {state !== 'idle' && state !== 'failed' && ` ${numberAt(document, 'base.update.progress') ?? 0} %`}
      </p>
      {errors.map(({ code, text }) => (
        <p key={code} class="trouble">
          {text}
        </p>
      ))}
    </Card>
  )
}

function FromFile({ answer, tell, isViewer }: Way) {
  const [share, setShare] = useState<number>()
  const file = useRef<HTMLInputElement>(null)
  const running = useRef<Upload | undefined>(undefined)
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
    running.current = upload(chosen, setShare)
    try {
      report(t('update.installed', { version: await running.current.done }), false)
    } catch (error) {
      report((error as Error).message, true)
    }
  }
  return (
    <Card title={t('update.file')}>
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
      tell({ to: 'url', text: await api.command('firmware', url), isTrouble: false })
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
