import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { isReadOnly } from '../../http.js'
import { t } from '../../i18n.js'
import { Confirm } from '../action.js'
import { Outcome } from '../card.js'
import type { Submission } from './submit.js'

/** For what has fields with what is wrong beside them: leads to the first, as it may be out of view. */
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

/** Fields with one button that sends them, and what came of it below. */
export function Form(props: {
  submission: Submission<readonly []>
  /** Of the button. */
  label: string
  /** While it is sent. */
  sending?: string | undefined
  /** Something is wrong with an entry: nothing is sent, `attempted` shows it at its field, and the focus goes there. */
  isWrong?: boolean | undefined
  attempted?: (() => void) | undefined
  isDisabled?: boolean | undefined
  /** A reader may send it, too: it changes nothing. */
  isForReaders?: boolean | undefined
  /** The answer is a text of lines to read. */
  isReport?: boolean | undefined
  /** Asked before it is sent. */
  caution?: ComponentChildren
  /** In place of `caution`: a question of its own. */
  ask?: ((answer: (isYes: boolean) => void) => ComponentChildren) | undefined
  /** Closes the form without sending. */
  close?: (() => void) | undefined
  class?: string | undefined
  children: ComponentChildren
  /** Between the fields and the button. */
  foot?: ComponentChildren
}) {
  const {
    ask,
    attempted,
    caution,
    children,
    close,
    foot,
    isDisabled,
    isForReaders,
    isReport,
    isWrong,
    label,
    sending,
  } = props
  const { answer, isRunning, run } = props.submission
  const [isAsking, setAsking] = useState(false)
  const { form, focusWrong } = useFocusWrong<HTMLFormElement>()
  const send = async () => {
    if (!(await run())) focusWrong()
  }
  const answered = (isYes: boolean) => {
    setAsking(false)
    if (isYes) void send()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (isRunning) return
    attempted?.()
    if (isWrong) focusWrong()
    else if (ask || caution) setAsking(true)
    else void send()
  }
  return (
    <form ref={form} class={props.class} onSubmit={submit} noValidate>
      {children}
      <div class="buttons">
        {close && (
          <button type="button" onClick={close}>
            {t('confirm.no')}
          </button>
        )}
        <button
          type="submit"
          class="main"
          disabled={isDisabled || (isReadOnly.value && !isForReaders)}
          // A button that is disabled while it runs would lose the focus.
          aria-disabled={isRunning}
        >
          {isRunning ? (sending ?? t('commands.running')) : label}
        </button>
      </div>
      {isReport ? (
        <pre class={answer.isTrouble ? 'trouble' : ''} role="status">
          {answer.text}
        </pre>
      ) : (
        <Outcome {...answer} />
      )}
      {foot}
      {isAsking &&
        (ask?.(answered) ?? (
          <Confirm title={label} yes={t('commands.yes')} answer={answered}>
            {caution}
          </Confirm>
        ))}
    </form>
  )
}
