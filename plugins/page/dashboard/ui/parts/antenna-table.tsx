/** The table of antennas: which file it is of, whether it has the station's antenna, and another file instead. */
import { useId, useState } from 'preact/hooks'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Outcome, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { figure, moment, t } from '../i18n/index.js'
import { ownAntenna } from '../station/antennas.js'
import { api } from '../station/api.js'
import { hello } from '../station/live.js'
import { upload } from '../station/upload.js'

/** Nothing on a station without a place for it. */
export function AntennaTable({ descriptor }: { descriptor: string }) {
  const { again, value } = useLoaded(ownAntenna)
  if (!value) return null
  const { file, own } = value
  const remove = async () => {
    await api.remove('/antennas')
    again()
    return ''
  }
  return (
    <section aria-label={t('antennas.title')}>
      <h3>{t('antennas.title')}</h3>
      <p>
        {file
          ? t('antennas.file', { name: file.name, count: figure(file.count, 0), time: moment(file.t / 1_000) })
          : t('antennas.none')}
      </p>
      {file && file.left_out > 0 && <p class="quiet">{t('antennas.leftOut', { count: figure(file.left_out, 0) })}</p>}
      {file && descriptor !== '' && (
        <p>
          {own ? (
            <Tone tone="good">{t('antennas.known', { antenna: own.type })}</Tone>
          ) : (
            <Tone tone="warning">{t('antennas.unknown', { antenna: descriptor })}</Tone>
          )}
        </p>
      )}
      <UploadTable done={again} />
      {file && <Action label={t('antennas.remove')} caution={<p>{t('antennas.removeText')}</p>} run={remove} />}
    </section>
  )
}

function UploadTable({ done }: { done: () => void }) {
  const id = useId()
  const [file, setFile] = useState<File>()
  const [share, setShare] = useState<number>()
  const [answer, setAnswer] = useState({ text: '', isTrouble: false })
  const isRunning = share !== undefined
  const send = async (event: Event) => {
    event.preventDefault()
    if (!file) return
    setShare(0)
    setAnswer({ text: '', isTrouble: false })
    const path = `/antennas?name=${encodeURIComponent(file.name.slice(0, 80))}`
    const texts = { lost: t('antennas.lost'), stopped: t('antennas.lost') }
    try {
      await upload({ method: 'PUT', path, ...texts }, file, setShare).done
      setAnswer({ text: t('settings.done'), isTrouble: false })
      done()
    } catch (error) {
      setAnswer({ text: error instanceof Error ? error.message : String(error), isTrouble: true })
    }
    setShare(undefined)
  }
  return (
    <form onSubmit={send}>
      <label for={`${id}-file`}>{t('antennas.choose')}</label>
      <input
        id={`${id}-file`}
        type="file"
        accept=".atx"
        aria-describedby={`${id}-help`}
        onChange={({ currentTarget }) => setFile(currentTarget.files?.[0])}
      />
      <p id={`${id}-help`} class="quiet">
        {t('antennas.help')}
      </p>
      <div class="buttons">
        <button type="submit" disabled={!file || isRunning || hello.value?.role === 'viewer'}>
          {t('antennas.send')}
        </button>
      </div>
      {isRunning && (
        <>
          <label for={`${id}-share`}>{t('update.sending', { percent: Math.round(share * 100) })}</label>
          <progress id={`${id}-share`} max={1} value={share} />
        </>
      )}
      <Outcome {...answer} />
    </form>
  )
}
