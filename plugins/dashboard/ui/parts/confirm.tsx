import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { t } from '../i18n/index.js'

/** Asks before something that cannot be taken back. Escape is no. */
export function Confirm(props: {
  title: string
  yes: string
  children: ComponentChildren
  answer: (isYes: boolean) => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onClose={() => props.answer(false)}>
      <h2 id="confirm-title">{props.title}</h2>
      {props.children}
      <div class="buttons">
        <button type="button" onClick={() => props.answer(false)}>
          {t('confirm.no')}
        </button>
        <button type="button" class="main" onClick={() => props.answer(true)}>
          {props.yes}
        </button>
      </div>
    </dialog>
  )
}
