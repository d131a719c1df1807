import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isReadOnly } from '../http.js'
import { t } from '../i18n.js'
import { sentence } from '../spoken.js'
import { useSubmit } from './form/submit.js'
import { useModal } from './modal.js'

/** The answer is shown for so long: what it reports is over then, such as a restart. */
const answer_ms = 60_000

/** A button for a station command, with the answer below for a minute. */
export function Action(props: {
  label: string
  /** Asked before it is done; left out: it is done at once. */
  caution?: ComponentChildren
  run: () => Promise<string>
  isMain?: boolean
  isDisabled?: boolean
  /** Text for screen readers, if the label alone is ambiguous. */
  name?: string
}) {
  const { caution, isDisabled, isMain, label, name, run } = props
  const { answer, isRunning, run: start, tell } = useSubmit(async () => sentence((await run()).trim()))
  const [isAsking, setAsking] = useState(false)
  useEffect(() => {
    if (answer.text === '' || answer.isTrouble) return
    const timer = setTimeout(() => tell(''), answer_ms)
    return () => clearTimeout(timer)
  }, [answer])
  const box = useRef<HTMLDivElement>(null)
  // It may have removed the row in which it stands: the focus is not lost with it.
  useEffect(
    () => () => {
      const heading =
        box.current?.contains(document.activeElement) && box.current.closest('.card')?.querySelector('h2, h3')
      if (heading instanceof HTMLElement) heading.focus({ preventScroll: true })
    },
    [],
  )
  return (
    <div class="action" ref={box}>
      <button
        type="button"
        class={isMain ? 'main' : ''}
        disabled={isDisabled || isReadOnly.value}
        // A button that is disabled while it runs would lose the focus.
        aria-disabled={isRunning}
        aria-label={name}
        onClick={() => (caution && !isRunning ? setAsking(true) : void start())}
      >
        {isRunning ? t('commands.running') : label}
      </button>
      <p class={answer.isTrouble ? 'trouble' : 'quiet'} role="status">
        {answer.text}
      </p>
      {isAsking && (
        <Confirm
          title={name ?? label}
          yes={t('commands.yes')}
          answer={(isYes) => {
            setAsking(false)
            if (isYes) void start()
          }}
        >
          {caution}
        </Confirm>
      )}
    </div>
  )
}

/** Asks before something that cannot be taken back. Escape is no. */
export function Confirm(props: {
  title: string
  yes: string
  /** The question cannot be answered with yes yet. */
  isBlocked?: boolean
  children: ComponentChildren
  answer: (isYes: boolean) => void
}) {
  const dialog = useModal()
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onClose={() => props.answer(false)}>
      <h2 id="confirm-title">{props.title}</h2>
      {props.children}
      <div class="buttons">
        <button type="button" onClick={() => props.answer(false)}>
          {t('confirm.no')}
        </button>
        <button type="button" class="main" disabled={props.isBlocked} onClick={() => props.answer(true)}>
          {props.yes}
        </button>
      </div>
    </dialog>
  )
}
