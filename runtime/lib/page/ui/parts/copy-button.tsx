import { useState } from 'preact/hooks'
import { t } from '../i18n.js'

/** Puts a text on the clipboard. */
export function CopyButton({ text }: { text: string }) {
  const [copied, setCopied] = useState('')
  return (
    <button type="button" onClick={() => void copy(text).then((isDone) => setCopied(isDone ? text : ''))}>
      {t(copied === text ? 'logins.copied' : 'logins.copy')}
    </button>
  )
}

/** Browsers have no clipboard for a page without https: there a selection is copied. */
async function copy(text: string): Promise<boolean> {
  if (globalThis.isSecureContext)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  const { activeElement } = document
  const field = document.createElement('textarea')
  field.className = 'hidden'
  field.value = text
  document.body.append(field)
  field.select()
  const isDone = document.execCommand('copy')
  field.remove()
  if (activeElement instanceof HTMLElement) activeElement.focus()
  return isDone
}
