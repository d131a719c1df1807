import { signal } from '@preact/signals'
import { Later } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { loadPageTexts } from '../i18n/index.js'

/** Whether the search is shown. */
export const searchOpen = signal(false)

const close = () => {
  searchOpen.value = false
}
const load = async () => {
  const [{ SearchDialog }] = await Promise.all([import('./search-dialog.js'), loadPageTexts()])
  return () => <SearchDialog close={close} />
}

/** The search: its dialog is loaded when it is opened. */
export function Search() {
  return searchOpen.value ? <Later load={load} /> : null
}
