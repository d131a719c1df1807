import { useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../runtime/lib/page/ui/http.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Field, Switch } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { locale, t } from '../i18n/index.js'
import { logText } from '../model/log-file.js'
import { droppedLines, type LogLine, logLines } from '../station/live.js'

const levels = { 0: 'logs.all', 30: 'logs.info', 40: 'logs.warn', 50: 'logs.error' } as const
type Level = keyof typeof levels
const marks: Record<number, string> = { 10: 'T', 20: 'D', 30: 'I', 40: 'W', 50: 'E', 60: 'F' }

/** The live log of the running service. */
export function LogsPage() {
  const [level, setLevel] = useState<Level>(30)
  const [text, setText] = useState('')
  const [held, setHeld] = useState<readonly LogLine[]>()
  if (isReadOnly.value) return <p>{t('logs.operators')}</p>
  const wanted = text.toLowerCase()
  const lines = (held ?? logLines.value).filter(
    (line) => line.level >= level && `${line.plugin} ${line.msg}`.toLowerCase().includes(wanted),
  )
  return (
    <Card title={t('page.logs')} isPage>
      <div class="row">
        <Field
          label={t('logs.level')}
          value={String(level)}
          set={(one) => setLevel(Number(one) as Level)}
          options={Object.entries(levels).map(([value, key]) => ({ value, text: t(key) }))}
        />
        <Field label={t('logs.filter')} value={text} set={setText} />
        <Switch
          label={t('logs.hold')}
          isOn={held !== undefined}
          set={(isHeld) => setHeld(isHeld ? logLines.value : undefined)}
        />
      </div>
      <p class="quiet">
        {t('logs.count', { count: lines.length })}{' '}
        {droppedLines.value > 0 && t('logs.dropped', { count: droppedLines.value })}
      </p>
      <div class="actions">
        <button type="button" disabled={lines.length === 0} onClick={() => save(lines)}>
          {t('logs.download')}
        </button>
        <a class="button" href="/get-log-saved" download="rtk-base-log.txt">
          {t('logs.saved')}
        </a>
        <a class="button" href="/report" download="rtk-base-report.tar.gz">
          {t('logs.report')}
        </a>
      </div>
      <p class="quiet">{t('logs.report.help')}</p>
      <ol class="log">
        {lines
          .slice(-300)
          .reverse()
          .map((line) => (
            <li key={`${line.time} ${line.plugin} ${line.msg}`} class={line.level >= 40 ? 'trouble' : ''}>
              <span class="quiet">{dated(line.time)}</span> {marks[line.level] ?? '?'} <strong>{line.plugin}</strong>{' '}
              {line.msg}
            </li>
          ))}
      </ol>
    </Card>
  )
}

const dated = (ms: number) => new Intl.DateTimeFormat(locale(), { dateStyle: 'short', timeStyle: 'medium' }).format(ms)

/** The shown lines as a file of this device. */
function save(lines: readonly LogLine[]): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([logText(lines)], { type: 'text/plain' }))
  link.download = `rtk-base-log-${new Date().toISOString().slice(0, 16).replaceAll(':', '')}.txt`
  link.click()
  // Not at once: the browser begins to read it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
