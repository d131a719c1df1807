import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { t } from '../i18n/index.js'

/** A part whose code is loaded when it is shown: the rest of the page does not wait for it. */
export function Later({ load }: { load: () => Promise<FunctionComponent> }) {
  const [Part, setPart] = useState<FunctionComponent>()
  const [trouble, setTrouble] = useState('')
  useEffect(() => {
    load().then(
      (found) => setPart(() => found),
      (error: unknown) => setTrouble(String(error)),
    )
  }, [load])
  if (trouble) return <p class="trouble">{t('app.failed', { why: trouble })}</p>
  return Part ? <Part /> : null
}
