import { useEffect } from 'preact/hooks'
import { moment, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Empty } from '../../../../../runtime/lib/page/ui/parts/empty.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type Alert, fleetApi } from '../fleet/api.js'
import { may } from '../fleet/live.js'
import { t } from '../i18n/index.js'
import { More, usePages } from '../parts/pages.js'

const again_ms = 10_000
const loadNotices = () => fleetApi.notices()

/** Alerts that hold, and the notices that were sent. */
export function AlertsPage() {
  const alerts = usePages(fleetApi.alerts)
  const notices = useLoaded(loadNotices)
  useEffect(() => {
    const timer = setInterval(() => {
      void alerts.again()
      void notices.again()
    }, again_ms)
    return () => clearInterval(timer)
  }, [alerts.again, notices.again])
  return (
    <>
      <Card title={t('alerts.active')}>
        <Waiting of={alerts}>
          {({ rows }) =>
            rows.length === 0 ? (
              <Empty drawing="quiet">{t('alerts.none')}</Empty>
            ) : (
              <>
                <ul class="list">
                  {rows.map((alert) => (
                    <AlertItem key={alert.key} alert={alert} again={alerts.again} />
                  ))}
                </ul>
                <More of={alerts} label={t('pages.more')} />
              </>
            )
          }
        </Waiting>
      </Card>
      <Card title={t('alerts.notices')}>
        <Waiting of={notices}>
          {({ channels, notices: told }) => (
            <>
              {channels.length === 0 && <p>{t('alerts.noChannel')}</p>}
              {channels.map(({ name, trouble }) => (
                <p key={name}>
                  {name}: <Tone tone={trouble ? 'broken' : 'good'}>{trouble || t('alerts.works')}</Tone>
                </p>
              ))}
              {may('operator') && channels.length > 0 && (
                <div class="actions">
                  <Action
                    label={t('alerts.test')}
                    run={async () => {
                      const answers = await fleetApi.testAlerts()
                      await notices.again()
                      return answers
                        .map(
                          ({ accepted, channel, reason }) => `${channel}: ${accepted ? t('alerts.accepted') : reason}`,
                        )
                        .join('; ')
                    }}
                  />
                </div>
              )}
              <ul class="list">
                {told.map((notice) => (
                  <li key={notice.id} class="command">
                    <p>
                      <strong>{notice.subject}</strong> <span class="quiet">{moment(notice.t)}</span>
                    </p>
                    <p class="changed">{notice.text}</p>
                    <p class="quiet">
                      {Object.entries(notice.channels)
                        .map(
                          ([name, { reason, state }]) =>
                            `${name}: ${word('notice', state)}${reason ? ` (${reason})` : ''}`,
                        )
                        .join(' · ') || t('notice.nobody')}
                    </p>
                  </li>
                ))}
              </ul>
            </>
          )}
        </Waiting>
      </Card>
    </>
  )
}

function AlertItem({ alert, again }: { alert: Alert; again: () => void }) {
  const { acknowledged, advice, key, name, serial, severity, since, text } = alert
  return (
    <li class="command">
      <p>
        <Tone tone={severity === 'critical' ? 'broken' : 'warning'}>{word('severity', severity)}</Tone>{' '}
        {serial && <a href={`#/station/${encodeURIComponent(serial)}`}>{name || serial}</a>}
      </p>
      <p>{[text, advice].filter(Boolean).join('. ')}</p>
      <p class="quiet">
        {[
          since > 0 && t('errors.since', { time: moment(since) }),
          word('alerts.state', alert.state),
          acknowledged && t('alerts.acknowledgedBy', { name: acknowledged.by }),
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {may('operator') && !acknowledged && (
        <Action
          label={t('alerts.acknowledge')}
          name={t('alerts.acknowledgeName', { key })}
          run={async () => {
            await fleetApi.acknowledge(key)
            again()
            return ''
          }}
        />
      )}
    </li>
  )
}
