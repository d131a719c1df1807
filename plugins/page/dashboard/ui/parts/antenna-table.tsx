/** The table of antennas: which file it is of, whether it has the station's antenna, and another file instead. */
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { figure, moment, t } from '../i18n/index.js'
import { ownAntenna } from '../station/antennas.js'
import { api } from '../station/api.js'
import { UploadForm } from './forms/upload-form.js'

/** Nothing on a station without a place for it. */
export function AntennaTable({ descriptor }: { descriptor: string }) {
  const { again, value } = useLoaded(ownAntenna)
  if (!value) return null
  const { file, own } = value
  const remove = async () => {
    await api.remove('/antennas')
    await again()
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
      <UploadForm
        label={t('antennas.choose')}
        accept=".atx"
        help={t('antennas.help')}
        send={t('antennas.send')}
        target={({ name }) => ({
          method: 'PUT',
          path: `/antennas?name=${encodeURIComponent(name.slice(0, 80))}`,
          lost: t('antennas.lost'),
          stopped: t('antennas.lost'),
        })}
        done={() => {
          void again()
          return t('settings.done')
        }}
      />
      {file && <Action label={t('antennas.remove')} caution={<p>{t('antennas.removeText')}</p>} run={remove} />}
    </section>
  )
}
