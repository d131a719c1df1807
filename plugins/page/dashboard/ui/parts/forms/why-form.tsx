import { useState } from 'preact/hooks'
import { t } from '../../i18n/index.js'
import { lastTime } from '../../model/gnss/procedure.js'
import { api } from '../../station/api.js'

/** Why were there no corrections at …? The flight record answers. */
export function WhyForm() {
  const [clock, setClock] = useState('')
  const [answer, setAnswer] = useState({ text: '', isTrouble: false })
  const [isRunning, setRunning] = useState(false)
  const ask = async (event: Event) => {
    event.preventDefault()
    setRunning(true)
    try {
      const text = await api.run('why-no-rtcm', clock === '' ? {} : { at: lastTime(clock, Date.now()) })
      setAnswer({ text, isTrouble: false })
    } catch (error) {
      setAnswer({ text: error instanceof Error ? error.message : String(error), isTrouble: true })
    }
    setRunning(false)
  }
  return (
    <form onSubmit={ask}>
      <div class="row">
        <label>
          {t('procedure.whyTime')}
          <input type="time" value={clock} onInput={({ currentTarget }) => setClock(currentTarget.value)} />
        </label>
        <button type="submit" class="main" disabled={isRunning}>
          {isRunning ? t('commands.running') : t('procedure.whyAsk')}
        </button>
      </div>
      <pre class={answer.isTrouble ? 'trouble' : ''} role="status">
        {answer.text}
      </pre>
    </form>
  )
}
