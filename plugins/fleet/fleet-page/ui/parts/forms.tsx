import { useId, useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../runtime/lib/page/ui/http.js'
import { Confirm } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Outcome } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { t } from '../i18n/index.js'

/** A field for a line or, with `rows`, for several. */
export function Field(props: {
  label: string
  value: string
  set: (value: string) => void
  help?: string
  rows?: number
  list?: readonly string[]
  kind?: 'text' | 'number' | 'time'
}) {
  const { help, kind = 'text', label, list, rows, set, value } = props
  const id = useId()
  const common = { id, value, 'aria-describedby': help ? `${id}-help` : undefined, spellcheck: false }
  return (
    <div class="entry">
      <label for={id}>{label}</label>
      {rows ? (
        <textarea {...common} rows={rows} onInput={({ currentTarget }) => set(currentTarget.value)} />
      ) : (
        <input
          {...common}
          // Preact's types tie attributes to one literal type.
          type={kind as 'text'}
          autocomplete="off"
          autocapitalize="none"
          list={list ? `${id}-list` : undefined}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
      {list && (
        <datalist id={`${id}-list`}>
          {list.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      {help && (
        <p id={`${id}-help`} class="quiet">
          {help}
        </p>
      )}
    </div>
  )
}

/** A form with one button; the answer stands below. @param props.caution asked before it is sent; `''`: it is sent at once */
export function SendForm(props: {
  label: string
  send: () => Promise<string>
  caution?: string
  isDisabled?: boolean
  children: preact.ComponentChildren
}) {
  const { caution = '', children, isDisabled, label, send } = props
  const [answer, setAnswer] = useState({ text: '', isTrouble: false })
  const [isRunning, setRunning] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const start = async () => {
    setRunning(true)
    try {
      setAnswer({ text: await send(), isTrouble: false })
    } catch (error) {
      setAnswer({ text: error instanceof Error ? error.message : String(error), isTrouble: true })
    }
    setRunning(false)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isRunning) return
        if (caution) setAsking(true)
        else void start()
      }}
    >
      {children}
      <div class="actions">
        <button type="submit" class="main" disabled={isDisabled || isReadOnly.value} aria-disabled={isRunning}>
          {isRunning ? t('commands.running') : label}
        </button>
      </div>
      <Outcome {...answer} />
      {isAsking && (
        <Confirm
          title={label}
          yes={t('commands.yes')}
          answer={(isYes) => {
            setAsking(false)
            if (isYes) void start()
          }}
        >
          <p>{caution}</p>
        </Confirm>
      )}
    </form>
  )
}
