import { useEffect, useRef } from 'preact/hooks'

/** For a `dialog`: opened over the page; when it goes, the focus is where it was before, so that Tab continues from there. */
export function useModal() {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      // Nothing outside of an open dialog takes the focus: it is still there now.
      if (before instanceof HTMLElement) queueMicrotask(() => before.focus())
    }
  }, [])
  return dialog
}
