/** A position of another service, from its report. */
import { useState } from 'preact/hooks'
import { Field, FileField } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { t } from '../i18n/index.js'
import { api } from '../station/api.js'

const largest_bytes = 900_000

export function ReportForm({ again }: { again: () => void }) {
  const [file, setFile] = useState<File>()
  const [frame, setFrame] = useState('')
  const [height, setHeight] = useState('')
  const submission = useSubmit(async () => {
    if (!file) return ''
    if (file.size > largest_bytes) throw new Error(t('ppp.tooLarge'))
    await api.send('POST', '/ppp/results', {
      text: await file.text(),
      ...(frame !== '' && { frame }),
      ...(height !== '' && { height: Number(height.replace(',', '.')) }),
    })
    again()
    return t('settings.done')
  })
  return (
    <details>
      <summary>{t('ppp.import')}</summary>
      <p>{t('ppp.importText')}</p>
      <Form submission={submission} label={t('ppp.importButton')} isDisabled={!file}>
        <FileField label={t('ppp.file')} accept=".sum,.snx,.SNX,.txt" set={setFile} />
        <Field label={t('ppp.sinexFrame')} value={frame} set={setFrame} placeholder="ITRF2020" />
        <Field kind="number" label={t('ppp.height')} value={height} set={setHeight} />
      </Form>
    </details>
  )
}
