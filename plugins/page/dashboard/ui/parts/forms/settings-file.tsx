/** The settings to a file of this device, and back. */
import { useState } from 'preact/hooks'
import { isReadOnly, ValuesRefused } from '../../../../../../runtime/lib/page/ui/http.js'
import { Outcome } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { FileField } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { t } from '../../i18n/index.js'
import { labelOf } from '../../i18n/plugin-texts.js'
import { type LoadedSettings, mostFile, readSettings, settingsFile } from '../../model/settings-file.js'
import { api, type Parameter } from '../../station/api.js'
import { document$ } from '../../station/live.js'
import { Review } from './parameter-form.js'

/** More names are only counted. */
const mostNames = 10
const namesOf = (names: readonly string[]) =>
  [...names.slice(0, mostNames).map((name) => name.slice(0, 80)), names.length > mostNames && '…']
    .filter(Boolean)
    .join(', ')

export function SettingsFileFold({ parameters, again }: { parameters: readonly Parameter[]; again: () => void }) {
  const [loaded, setLoaded] = useState<LoadedSettings>()
  const serial = textAt(document$.value, 'esp.serial')
  const labels = (names: readonly string[]) =>
    namesOf(names.map((name) => labelOf(parameters.find((one) => one.name === name) ?? { name, title: name })))
  const kept = parameters.filter(({ secret, set }) => secret && set).map(({ name }) => name)

  const { answer, isRunning, run, tell } = useSubmit(async ({ changes }: LoadedSettings) => {
    try {
      const { errors = [] } = await api.change(Object.fromEntries(changes))
      return [t('settings.done'), ...errors.map(({ name, message }) => `${labels([name])}: ${message}.`)].join(' ')
    } catch (error) {
      if (!(error instanceof ValuesRefused)) throw error
      const reasons = [...error.reasons].map(([name, reason]) => `${labels([name])}: ${reason}.`)
      throw new Error([t('settings.refused'), ...reasons].join(' '))
    } finally {
      again()
    }
  })
  const load = async (file: File) => {
    const reading =
      file.size > mostFile ? { trouble: 'tooLarge' as const } : readSettings(await file.text(), parameters)
    if ('trouble' in reading) return tell(t(`settingsFile.${reading.trouble}`))
    tell('')
    setLoaded(reading)
  }
  return (
    <details>
      <summary>{t('settingsFile.title')}</summary>
      <p>{t('settingsFile.text')}</p>
      {kept.length > 0 && <p class="quiet">{t('settingsFile.kept', { names: labels(kept) })}</p>}
      <div class="actions">
        <button type="button" onClick={() => save(parameters, serial)}>
          {t('settingsFile.save')}
        </button>
      </div>
      <FileField
        label={t('settingsFile.load')}
        accept=".json,application/json"
        disabled={isReadOnly.value}
        set={(file) => file && void load(file)}
      />
      <Outcome {...(isRunning ? { text: t('settings.sending'), isTrouble: true } : answer)} />
      {loaded && (
        <Review
          isBlocked={loaded.unknown.length > 0}
          changed={parameters.filter(({ name }) => loaded.changes.has(name))}
          changes={loaded.changes}
          notes={[
            loaded.serial !== serial && t('settingsFile.other', { serial: loaded.serial.slice(0, 64) || '–' }),
            loaded.changes.size === 0 && t('settingsFile.nothing'),
            loaded.unknown.length > 0 &&
              t('settingsFile.unknown', {
                names: namesOf(loaded.unknown.map(({ name, meant }) => (meant ? `${name} (${meant}?)` : name))),
              }),
            loaded.secrets.length > 0 && t('settingsFile.secrets', { names: labels(loaded.secrets) }),
          ]}
          answer={(isYes) => {
            setLoaded(undefined)
            if (isYes) void run(loaded)
          }}
        />
      )}
    </details>
  )
}

function save(parameters: readonly Parameter[], serial: string): void {
  const now = new Date()
  const version = textAt(document$.value, 'esp.version')
  const file = settingsFile(parameters, { version, serial, t: Math.floor(now.getTime() / 1_000) })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([`${JSON.stringify(file, null, 2)}\n`], { type: 'application/json' }))
  link.download = `rtk-base-settings-${serial}-${now.toISOString().slice(0, 10)}.json`
  link.click()
  // Not at once: the browser begins to read it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
