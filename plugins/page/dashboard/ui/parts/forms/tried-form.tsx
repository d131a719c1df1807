/** A form whose entries are tried at the station before they are saved. */
import type { ComponentChildren, Ref } from 'preact'
import { useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../../runtime/lib/page/ui/http.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { t } from '../../i18n/index.js'

export interface Tried<Tested> {
  /** Somebody wanted to send it: what is wrong is shown beside the fields. */
  readonly isChecked: boolean
  readonly running: '' | 'test' | 'save'
  readonly tested: Tested | undefined
  readonly trouble: string
  /** The fields were changed since the test: its result is dropped. */
  forget(): void
  run(what: 'test' | 'save'): Promise<boolean>
}

/** @param isWrong the entries cannot be sent @param save stores them and closes the form */
export function useTried<Tested>(
  isWrong: boolean,
  test: () => Promise<Tested>,
  save: () => Promise<void>,
): Tried<Tested> {
  const [isChecked, setChecked] = useState(false)
  const [running, setRunning] = useState<'' | 'test' | 'save'>('')
  const [tested, setTested] = useState<Tested>()
  const { answer, run, tell } = useSubmit(async (what: 'test' | 'save') => {
    setChecked(true)
    if (isWrong) throw new Error(t('casters.incomplete'))
    setRunning(what)
    try {
      if (what === 'test') setTested(await test())
      else await save()
    } finally {
      setRunning('')
    }
    return ''
  })
  const forget = () => {
    setTested(undefined)
    tell('')
  }
  return { isChecked, running, tested, trouble: answer.text, forget, run }
}

export function TriedForm<Tested extends { readonly ok: boolean }>(props: {
  tried: Tried<Tested>
  isWrong: boolean
  /** Shown while it is tried. */
  testing: string
  help?: string
  answer: (tested: Tested) => ComponentChildren
  close: () => void
  form?: Ref<HTMLFormElement>
  children: ComponentChildren
}) {
  const { answer, children, close, form, help, isWrong, testing, tried } = props
  const { running, tested, trouble, run } = tried
  const cannot = running !== '' || isReadOnly.value
  return (
    <form
      ref={form ?? null}
      class="caster-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void run(tested?.ok ? 'save' : 'test')
      }}
    >
      {children}
      <div role="status">
        {running === 'test' && <p>{testing}</p>}
        {tested && answer(tested)}
        {trouble && <p class="trouble">{trouble}</p>}
      </div>
      {!tested && help && <p class="quiet">{help}</p>}
      <div class="buttons">
        <button type="button" onClick={close}>
          {t('confirm.no')}
        </button>
        {(tested || (trouble && !isWrong)) && (
          <button type="button" class={tested?.ok ? 'main' : ''} disabled={cannot} onClick={() => void run('save')}>
            {t(running === 'save' ? 'commands.running' : tested?.ok ? 'casters.save' : 'casters.saveAnyway')}
          </button>
        )}
        {!tested?.ok && (
          <button type="button" class="main" disabled={cannot} onClick={() => void run('test')}>
            {t(running === 'test' ? 'commands.running' : tested ? 'casters.testAgain' : 'casters.test')}
          </button>
        )}
      </div>
    </form>
  )
}
