import { Action } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList, Tone, type ToneName } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { at, type Json, listAt, numberAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { fixOf, type Rover, type RoverFix, roversOf } from '../../../../../../runtime/lib/page/ui/station/links.js'
import { ago, figure, moment, t } from '../../i18n/index.js'
import { api } from '../../station/api.js'

/** Every rover, whatever output it uses. A list: their names are as long as they please. */
export function Clients({ document }: { document: Json }) {
  return (
    <Card title={t('links.clients')}>
      <ul class="list">
        {roversOf(document).map(({ via, name, ip, seen }) => (
          <li key={`${via} ${name} ${ip}`} class="command">
            <strong>{name || ip}</strong>
            <div class="quiet">{[via.toUpperCase(), name && ip, ago(seen)].filter(Boolean).join(' · ')}</div>
          </li>
        ))}
      </ul>
      {at(document, 'udp.enabled') === true && (
        <p class="quiet">{t('links.udp', { port: numberAt(document, 'udp.port') ?? 0 })}</p>
      )}
    </Card>
  )
}

const fixTones: Readonly<Record<RoverFix, ToneName>> = {
  fixed: 'good',
  float: 'warning',
  dgps: 'warning',
  single: 'broken',
  none: 'broken',
  silent: 'idle',
}

export function Rovers({ document }: { document: Json }) {
  if (at(document, 'ntrip.caster') === undefined) return null
  const rovers = listAt<Rover>(document, 'ntrip.caster.rovers')
  const isOpen = at(document, 'ntrip.caster.enabled') === true
  // 0: it cannot listen, which is an error of its own.
  const port = numberAt(document, 'ntrip.caster.port') ?? 0
  return (
    <Card title={t('links.rovers')}>
      <p>
        {!isOpen && t('links.casterOff')}
        {isOpen && port === 0 && t('links.casterDown')}
        {isOpen &&
          port > 0 &&
          t('links.caster', { port, mounts: listAt<string>(document, 'ntrip.caster.mounts').join(', ') })}
      </p>
      {rovers.map((rover) => (
        <RoverRow key={rover.id} rover={rover} />
      ))}
      <FigureList
        rows={[
          [t('links.connected'), figure(numberAt(document, 'ntrip.caster.connected'), 0)],
          [t('links.refused'), figure(numberAt(document, 'ntrip.caster.refused'), 0)],
          [t('links.users'), figure(numberAt(document, 'ntrip.caster.users'), 0)],
        ]}
      />
    </Card>
  )
}

function RoverRow({ rover }: { rover: Rover }) {
  const { id, user, agent, ip, mount, since, dist, age, unverified } = rover
  const fix = fixOf(rover)
  const name = user || agent || ip
  return (
    <div class="command">
      <h3>{name}</h3>
      <p>
        <Tone tone={fixTones[fix]}>{t(`links.fix.${fix}`)}</Tone>
        {unverified && ` · ${t('links.unverified')}`}
      </p>
      <FigureList
        rows={[
          [t('links.distance'), fix !== 'silent' && figure(dist / 1_000, 3, 'km')],
          [t('links.gga'), fix !== 'silent' && ago(age)],
          [t('links.mount'), mount],
          [t('links.address'), ip],
          [t('links.since'), moment(since)],
        ]}
      />
      <Action
        label={t('links.kick')}
        name={t('links.kickOf', { name })}
        caution={<p>{t('links.kickWarning')}</p>}
        run={() => api.run('ntrip-kick', { id })}
      />
    </div>
  )
}
