/** Above every page: a change on trial. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { at, errorsOf } from '../../../../../runtime/lib/page/ui/station/document.js'
import { t } from '../i18n/index.js'
import { adviceText, errorText, labelOf } from '../i18n/plugin-texts.js'
import { api } from '../station/api.js'
import { document$, verdict } from '../station/live.js'

interface Trial {
  readonly parameters: readonly string[]
  readonly left_s: number
}
const loadParameters = () => api.parameters()

/** A change that may disconnect clients: shown on every page, with the time that is left to keep it, and that it was taken back. */
export function TrialBar() {
  const trial = at(document$.value, 'base.state.trial') as Trial | undefined
  const undone = errorsOf(document$.value).find(({ code }) => code === 'change-rolled-back')
  if (trial) return <Countdown trial={trial} />
  if (!undone) return null
  // The verdict above the page may say it already.
  const now = verdict.value
  return <Undone key={undone.t} text={now?.why_code === undone.code ? adviceText(now) : errorText(undone)} />
}

/** The station tells it until the next change; here it is read once. */
function Undone({ text }: { text: string }) {
  const [isRead, setRead] = useState(false)
  if (isRead) return null
  return (
    <div class="notice" role="alert">
      <p>
        <strong>{t('trial.undone')}</strong> {text}
      </p>
      <button type="button" onClick={() => setRead(true)}>
        {t('trial.read')}
      </button>
    </div>
  )
}

function Countdown({ trial: { left_s, parameters } }: { trial: Trial }) {
  const all = useLoaded(loadParameters).value ?? []
  const [now_ms, setNow] = useState(() => performance.now())
  const [whole_s] = useState(left_s)
  // The station says how long at every change of its document; between two of them this page counts itself.
  const end_ms = useRef({ said_s: left_s, at_ms: performance.now() + left_s * 1_000 })
  if (end_ms.current.said_s !== left_s) end_ms.current = { said_s: left_s, at_ms: performance.now() + left_s * 1_000 }
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 250)
    return () => clearInterval(timer)
  }, [])
  const now_s = Math.max(0, Math.ceil((end_ms.current.at_ms - now_ms) / 1_000))
  const { answer, run } = useSubmit(async (action: string) => {
    await api.run(action)
    return ''
  })
  const names = parameters
    .map((name) => {
      const found = all.find((one) => one.name === name)
      return found ? labelOf(found) : name
    })
    .join(', ')
  return (
    <section class="notice trial" aria-label={t('trial.title')}>
      <p role="alert">{t('trial.text', { names })}</p>
      <p class="large" role="timer">
        {t('trial.left', { s: now_s })}
      </p>
      <progress max={whole_s} value={now_s} aria-hidden="true" />
      <div class="buttons">
        <button type="button" onClick={() => void run('undo-change')}>
          {t('trial.undo')}
        </button>
        <button type="button" class="main" onClick={() => void run('confirm-change')}>
          {t('trial.keep')}
        </button>
      </div>
      <p class="trouble" role="status">
        {answer.text}
      </p>
    </section>
  )
}
