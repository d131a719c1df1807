import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type Value, ValueCard } from '../../../../../runtime/lib/page/ui/parts/values.js'
import { numberAt, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { duration, figure, type TextKey, t } from '../i18n/index.js'
import { cautionText } from '../i18n/plugin-texts.js'
import { api, type StationAction } from '../station/api.js'
import { document$ } from '../station/live.js'

const load = () => api.actions()

/** Restarts, from the smallest to the largest; then resets, which lose data for ever. */
const restarts: readonly (readonly [action: string, title: TextKey])[] = [
  ['reboot-receiver', 'maintenance.receiver'],
  ['reboot-modem', 'maintenance.modem'],
  ['reboot-router', 'maintenance.router'],
  ['reboot', 'maintenance.reboot'],
  ['shutdown', 'maintenance.shutdown'],
]
const resets: readonly (readonly [action: string, title: TextKey])[] = [
  ['factory-router', 'maintenance.factoryRouter'],
  ['factory', 'maintenance.factory'],
]

/** Restarts, each with what it costs, the report for support, and the way back to the start. */
export function MaintenancePage() {
  const actions = useLoaded(load)
  const document = document$.value
  return (
    <>
      {document && <ValueCard document={document} block="esp" title={t('maintenance.machine')} of={machine} />}
      <Card title={t('maintenance.report')}>
        <p>{t('logs.report.help')}</p>
        <a class="button main" href="/report" download="rtk-base-report.tar.gz">
          {t('logs.report')}
        </a>
      </Card>
      <Waiting of={actions}>
        {(all) => (
          <>
            <Actions title={t('maintenance.restart')} of={restarts} all={all} />
            <Actions title={t('maintenance.reset')} of={resets} all={all} />
          </>
        )}
      </Waiting>
    </>
  )
}

/** °C: the processor of a Raspberry Pi slows down at 80. */
const hot = 80
const warm = 70

const gigabytes = (bytes: number) => figure(bytes / 1e9, 1, 'GB')

/** The machine and its receiver, as far as they tell. */
const machine: readonly Value<TextKey>[] = [
  [
    'maintenance.model',
    'gnss.receiver',
    (_, document) => `${textAt(document, 'gnss.receiver.maker')} ${textAt(document, 'gnss.receiver.model')}`.trim(),
  ],
  ['maintenance.firmware', 'gnss.receiver.firmware'],
  ['maintenance.rejected', 'gnss.receiver.rejected'],
  ['maintenance.temp', 'base.machine.temp', (temp) => temperature(Number(temp))],
  [
    'maintenance.power',
    'base.machine.undervoltage',
    (isLow) => (
      <Tone tone={isLow ? 'broken' : 'good'}>{t(isLow ? 'maintenance.power.low' : 'maintenance.power.good')}</Tone>
    ),
  ],
  [
    'maintenance.disk',
    'base.machine.disk.free',
    (free, document) =>
      t('maintenance.disk.free', {
        free: gigabytes(Number(free)),
        size: gigabytes(numberAt(document, 'base.machine.disk.size') ?? 0),
      }),
  ],
  ['maintenance.uptime', 'esp.state.uptime', (uptime) => duration(Number(uptime))],
]

function temperature(temp: number) {
  const state = temp >= hot ? 'hot' : temp >= warm ? 'warm' : 'good'
  const tone = ({ hot: 'broken', warm: 'warning', good: 'good' } as const)[state]
  return (
    <Tone tone={tone}>
      {figure(temp, 0, '°C')}, {t(`maintenance.temp.${state}`)}
    </Tone>
  )
}

function Actions(props: { title: string; of: typeof restarts; all: readonly StationAction[] }) {
  const rows = props.of.flatMap(([name, title]) => {
    const action = props.all.find((one) => one.name === name)
    return action ? [{ title, action }] : []
  })
  if (rows.length === 0) return null
  return (
    <Card title={props.title}>
      {rows.map(({ title, action }) => (
        <div key={action.name} class="command">
          <Action
            label={t(title)}
            caution={<p>{cautionText(action) || t('maintenance.sure')}</p>}
            run={() => api.run(action.name)}
          />
          <p class="quiet">{cautionText(action)}</p>
        </div>
      ))}
    </Card>
  )
}
