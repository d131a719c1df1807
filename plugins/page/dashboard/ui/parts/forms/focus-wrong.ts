import { useRef } from 'preact/hooks'

/** For a form with what is wrong beside its fields: leads there, as the field may be out of view. */
export function useFocusWrong<T extends HTMLElement>() {
  const form = useRef<T>(null)
  /** After the fields were drawn. */
  const focusWrong = () =>
    setTimeout(() => {
      const field = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
      const fold = field?.closest('details')
      if (fold) fold.open = true
      field?.focus()
    })
  return { form, focusWrong }
}
