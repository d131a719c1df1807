import { type TextKey, t } from '../i18n/index.js'
import { cautionText } from '../i18n/plugins.js'
import { Action } from '../parts/action.js'
import { Card } from '../parts/card.js'
import { useLoaded, Waiting } from '../parts/loaded.js'
import { api, type Command } from '../station/api.js'

const load = () => api.commands()

/** What can be restarted, from the smallest to the largest, and what is lost for ever. */
const restarts: readonly (readonly [command: string, title: TextKey])[] = [
  ['reboot-receiver', 'maintenance.receiver'],
  ['reboot-modem', 'maintenance.modem'],
  ['reboot-router', 'maintenance.router'],
  ['reboot', 'maintenance.reboot'],
]
const resets: readonly (readonly [command: string, title: TextKey])[] = [
  ['factory-router', 'maintenance.factoryRouter'],
  ['factory', 'maintenance.factory'],
]

/** Restarts, each with what it costs, the report for support, and the way back to the start. */
export function MaintenancePage() {
  const commands = useLoaded(load)
  return (
    <>
      <Card title={t('maintenance.report')}>
        <p>{t('logs.report.help')}</p>
        <a class="button main" href="/report" download="rtk-base-report.tar.gz">
          {t('logs.report')}
        </a>
      </Card>
      <Waiting of={commands}>
        {(all) => (
          <>
            <Actions title={t('maintenance.restart')} of={restarts} commands={all} />
            <Actions title={t('maintenance.reset')} of={resets} commands={all} />
          </>
        )}
      </Waiting>
    </>
  )
}

function Actions(props: { title: string; of: typeof restarts; commands: readonly Command[] }) {
  const rows = props.of.flatMap(([name, title]) => {
    const command = props.commands.find((one) => one.name === name)
    return command ? [{ title, command }] : []
  })
  if (rows.length === 0) return null
  return (
    <Card title={props.title}>
      {rows.map(({ title, command }) => (
        <div key={command.name} class="command">
          <Action
            label={t(title)}
            caution={<p>{cautionText(command) || t('maintenance.sure')}</p>}
            run={() => api.command(command.name)}
          />
          <p class="quiet">{cautionText(command)}</p>
        </div>
      ))}
    </Card>
  )
}
