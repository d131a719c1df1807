import { useEffect } from 'preact/hooks'
import { Icon } from '../../../../../runtime/lib/page/ui/parts/icon.js'
import { t } from '../i18n/index.js'
import { moodOf, nameOf, placeText } from '../model/verdict.js'
import { document$, hello, inContact } from '../station/live.js'
import { showInTab } from './browser-tab.js'
import { searchOpen } from './search.js'

/** Which station this is, and where; its mark has the colour of the verdict, as the browser's tab has. */
export function Header() {
  const document = document$.value
  const mood = inContact.value ? moodOf(document) : 'unknown'
  const name = nameOf(document, hello.value?.serial ?? '')
  useEffect(() => showInTab(mood, name), [mood, name])
  return (
    <div class="top">
      <span class={`top-mark mark-${mood}`}>
        <Icon name="antenna" />
      </span>
      <p class="top-name">
        <a href="#/status">{name}</a>
        <span>{placeText(document)}</span>
      </p>
      <button
        type="button"
        class="top-search"
        onClick={() => {
          searchOpen.value = true
        }}
      >
        <Icon name="search" />
        {t('search.open')}
      </button>
    </div>
  )
}
