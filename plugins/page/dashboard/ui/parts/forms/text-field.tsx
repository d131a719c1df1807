import { useId } from 'preact/hooks'
import { t } from '../../i18n/index.js'
import { newPassword } from '../../model/password.js'

interface FieldProps {
  label: string
  value: string
  set: (value: string) => void
  /** What is wrong with it, beside the field. */
  trouble?: string | undefined
  help?: string
}

/** A field for a line of text. Names and addresses are not corrected by the keyboard of a phone. */
export function TextField(props: FieldProps & { isNumber?: boolean; done?: (value: string) => void }) {
  const { label, value, set, trouble = '', help = '', isNumber, done } = props
  const id = useId()
  return (
    <div class="entry">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        inputMode={isNumber ? 'numeric' : 'text'}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={value}
        aria-invalid={trouble !== ''}
        aria-describedby={`${id}-help`}
        onInput={({ currentTarget }) => set(currentTarget.value)}
        onChange={({ currentTarget }) => done?.(currentTarget.value)}
      />
      <p id={`${id}-help`} class="quiet">
        {help} <span class="trouble">{trouble}</span>
      </p>
    </div>
  )
}

/** A password, hidden unless it is wanted; `suggests`: one can be generated. */
export function SecretField(
  props: FieldProps & { isShown: boolean; show: (isShown: boolean) => void; suggests?: boolean },
) {
  const { label, value, set, trouble = '', help = '', isShown, show, suggests } = props
  const id = useId()
  return (
    <div class="entry">
      <label for={id}>{label}</label>
      <input
        id={id}
        // Preact's types tie attributes to one literal type.
        type={(isShown ? 'text' : 'password') as 'password'}
        autocomplete="new-password"
        value={value}
        aria-invalid={trouble !== ''}
        aria-describedby={`${id}-help`}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
      <p id={`${id}-help`} class="quiet">
        {help} <span class="trouble">{trouble}</span>
      </p>
      <div class="entry-beside">
        <label class="switch">
          <input type="checkbox" checked={isShown} onChange={({ currentTarget }) => show(currentTarget.checked)} />
          {t('password.show')}
        </label>
        {suggests && (
          <button
            type="button"
            onClick={() => {
              set(newPassword())
              show(true)
            }}
          >
            {t('password.make')}
          </button>
        )}
      </div>
    </div>
  )
}
