/** The settings to a file of this device, and back. */
import { useRef, useState } from 'preact/hooks'
import { textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { t } from '../../i18n/index.js'
import { labelOf } from '../../i18n/plugin-texts.js'
import { type LoadedSettings, mostFile, readSettings, settingsFile } from '../../model/settings-file.js'
import { api, type Parameter } from '../../station/api.js'
import { document$, hello } from '../../station/live.js'
import { Review } from './parameter-form.js'

/** More names are only counted. */
const mostNames = 10
const namesOf = (names: readonly string[]) =>
  [...names.slice(0, mostNames).map((name) => name.slice(0, 80)), names.length > mostNames && '…']
    .filter(Boolean)
    .join(', ')

export function SettingsFileFold({ parameters, again }: { parameters: readonly Parameter[]; again: () => void }) {
  const input = useRef<HTMLInputElement>(null)
  const [loaded, setLoaded] = useState<LoadedSettings>()
  const [said, setSaid] = useState({ text: '', isTrouble: false })
  const serial = textAt(document$.value, 'esp.serial')
  const labels = (names: readonly string[]) =>
    namesOf(names.map((name) => labelOf(parameters.find((one) => one.name === name) ?? { name, title: name })))
  const kept = parameters.filter(({ secret, set }) => secret && set).map(({ name }) => name)

  const load = async () => {
    const file = input.current?.files?.[0]
    if (!file) return
    const reading =
      file.size > mostFile ? { trouble: 'tooLarge' as const } : readSettings(await file.text(), parameters)
    // The same file may be chosen again.
    if (input.current) input.current.value = ''
    if ('trouble' in reading) return setSaid({ text: t(`settingsFile.${reading.trouble}`), isTrouble: true })
    setSaid({ text: '', isTrouble: false })
    setLoaded(reading)
  }
  const apply = async ({ changes }: LoadedSettings) => {
    setSaid({ text: t('settings.sending'), isTrouble: false })
    try {
      const { errors = [], result } = await api.change(Object.fromEntries(changes))
      setSaid({
        text: [
          t(result === 'failed' ? 'settings.refused' : 'settings.done'),
          ...errors.map(({ name, message }) => `${labels([name])}: ${message}.`),
        ]
          .filter(Boolean)
          .join(' '),
        isTrouble: result === 'failed',
      })
      again()
    } catch (error) {
      setSaid({ text: error instanceof Error ? error.message : String(error), isTrouble: true })
    }
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
      <label>
        {t('settingsFile.load')}
        <input
          ref={input}
          type="file"
          accept=".json,application/json"
          disabled={hello.value?.role === 'viewer'}
          onChange={() => void load()}
        />
      </label>
      <p class={said.isTrouble ? 'trouble' : ''} role="status">
        {said.text}
      </p>
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
            if (isYes) void apply(loaded)
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
