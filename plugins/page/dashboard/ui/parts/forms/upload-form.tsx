import { useId, useRef, useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../../runtime/lib/page/ui/http.js'
import { FileField } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { t } from '../../i18n/index.js'
import { type Upload, type UploadTarget, upload } from '../../station/upload.js'

/** A file of this device to the station, with its progress. */
export function UploadForm<T>(props: {
  label: string
  accept: string
  help?: string
  /** The text of the button. */
  send: string
  target: (file: File) => UploadTarget
  /** @returns what to say of the answer */
  done: (answer: T) => string
}) {
  const { accept, done, help, label, send, target } = props
  const id = useId()
  const [file, setFile] = useState<File>()
  const [share, setShare] = useState<number>()
  const running = useRef<Upload<T>>(null)
  const submission = useSubmit(async () => {
    if (!file) return ''
    setShare(0)
    try {
      running.current = upload<T>(target(file), file, setShare)
      return done(await running.current.done)
    } finally {
      setShare(undefined)
    }
  })
  const isRunning = share !== undefined
  return (
    <Form
      submission={submission}
      label={send}
      isDisabled={!file || isRunning}
      close={isRunning ? () => running.current?.abort() : undefined}
    >
      <FileField label={label} accept={accept} set={setFile} help={help} disabled={isReadOnly.value || isRunning} />
      {isRunning && (
        <>
          <label for={id}>{t('update.sending', { percent: Math.round(share * 100) })}</label>
          <progress id={id} max={1} value={share} />
        </>
      )}
    </Form>
  )
}
