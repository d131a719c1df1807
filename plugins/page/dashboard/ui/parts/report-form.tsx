/** A position of another service, from its report. */
import { useId, useState } from 'preact/hooks'
import { Outcome } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { t } from '../i18n/index.js'
import { api } from '../station/api.js'
import { hello } from '../station/live.js'

const largest_bytes = 900_000

export function ReportForm({ again }: { again: () => void }) {
  const id = useId()
  const [file, setFile] = useState<File>()
  const [frame, setFrame] = useState('')
  const [height, setHeight] = useState('')
  const [answer, setAnswer] = useState({ text: '', isTrouble: false })
  const send = async (event: Event) => {
    event.preventDefault()
    if (!file) return
    try {
      if (file.size > largest_bytes) throw new Error(t('ppp.tooLarge'))
      await api.send('POST', '/ppp/results', {
        text: await file.text(),
        ...(frame !== '' && { frame }),
        ...(height !== '' && { height: Number(height.replace(',', '.')) }),
      })
      setAnswer({ text: t('settings.done'), isTrouble: false })
      again()
    } catch (error) {
      setAnswer({ text: error instanceof Error ? error.message : String(error), isTrouble: true })
    }
  }
  return (
    <details>
      <summary>{t('ppp.import')}</summary>
      <p>{t('ppp.importText')}</p>
      <form onSubmit={send}>
        <label for={`${id}-file`}>{t('ppp.file')}</label>
        <input
          id={`${id}-file`}
          type="file"
          accept=".sum,.snx,.SNX,.txt"
          onChange={({ currentTarget }) => setFile(currentTarget.files?.[0])}
        />
        <label for={`${id}-frame`}>{t('ppp.sinexFrame')}</label>
        <input
          id={`${id}-frame`}
          type="text"
          value={frame}
          placeholder="ITRF2020"
          onInput={({ currentTarget }) => setFrame(currentTarget.value)}
        />
        <label for={`${id}-height`}>{t('ppp.height')}</label>
        <input
          id={`${id}-height`}
          type="text"
          inputMode="decimal"
          value={height}
          onInput={({ currentTarget }) => setHeight(currentTarget.value)}
        />
        <div class="buttons">
          <button type="submit" class="main" disabled={!file || hello.value?.role === 'viewer'}>
            {t('ppp.importButton')}
          </button>
        </div>
        <Outcome {...answer} />
      </form>
    </details>
  )
}
