/** The search: its dialog is loaded when it is opened. */
import { useEffect, useState } from 'preact/hooks'
import { searchOpen } from './search-open.js'

export function Search() {
  const [loaded, setLoaded] = useState<typeof import('./search-dialog.js')>()
  const isOpen = searchOpen.value
  useEffect(() => {
    if (isOpen) void import('./search-dialog.js').then(setLoaded)
  }, [isOpen])
  return isOpen && loaded ? <loaded.SearchDialog /> : null
}
