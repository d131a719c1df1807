import { useEffect, useRef } from 'preact/hooks'

/** For a `dialog`: opened over the page; when it goes, the focus is where it was before, so that Tab continues from there. */
export function useModal() {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return dialog
}
