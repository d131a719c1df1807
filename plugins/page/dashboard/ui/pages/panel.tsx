import { useEffect, useRef, useState } from 'preact/hooks'
import { reasonOf } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { language, t } from '../i18n/index.js'
import { place as placeNow } from '../place.js'
import { panels } from '../station/live.js'
import type { PanelEntry } from '../station/messages.js'
import { openPanel } from '../station/panel.js'

/** The page of another plugin. Its failures are reported here, and the rest of the page keeps working. */
export function PanelPage() {
  const panel = panels.value?.find(({ plugin }) => placeNow.value.path === `panel/${plugin}`)
  // Another version of the plugin, or another language: it begins again.
  return panel ? <Shown key={`${panel.plugin} ${panel.entry} ${language.value}`} panel={panel} /> : null
}

function Shown({ panel }: { panel: PanelEntry }) {
  const place = useRef<HTMLDivElement>(null)
  const [trouble, setTrouble] = useState('')
  useEffect(() => {
    if (!place.current) return undefined
    return openPanel(panel, place.current, (error) => setTrouble(reasonOf(error)))
  }, [])
  return (
    <>
      {trouble && (
        <p class="trouble" role="alert">
          {t('panel.trouble', { plugin: panel.plugin, why: trouble })}
        </p>
      )}
      <div ref={place} />
    </>
  )
}
