import { duration, figure, moment, t, word } from '../i18n/index.js'
import {
  certificateOf,
  type ForeignBase,
  fixOf,
  type Output,
  type Push,
  type Rover,
  type RoverFix,
  subscribersOf,
  toneOf,
} from '../model/links.js'
import { Action } from '../parts/action.js'
import { Card } from '../parts/card.js'
import { DataTable } from '../parts/data-table.js'
import { FigureList } from '../parts/figure-list.js'
import { Tone, type ToneName } from '../parts/tone.js'
import { api } from '../station/api.js'
import { at, type Json, listAt, numberAt, textAt } from '../station/document.js'
import { document$ } from '../station/live.js'

/** Who gets the corrections, by what way, and what is done where they do not arrive. */
export function LinksPage() {
  const document = document$.value
  if (!document) return <p>{t('app.connecting')}</p>
  return (
    <>
      <Takers document={document} />
      <Rovers document={document} />
      <ForeignBases document={document} />
      <Outputs document={document} />
      <Pushes document={document} />
      <Tcp document={document} />
      <Mqtt document={document} />
      <Incoming document={document} />
    </>
  )
}

const ago = (seconds: number) => (seconds < 1 ? t('links.now') : t('links.ago', { time: duration(seconds) }))

function Takers({ document }: { document: Json }) {
  const takers = subscribersOf(document)
  return (
    <Card title={t('links.takers')}>
      {takers.length === 0 ? (
        <p>{t('links.nobody')}</p>
      ) : (
        <DataTable
          label={t('links.takers')}
          rows={takers}
          keyOf={({ via, name, ip }) => `${via} ${name} ${ip}`}
          columns={[
            { name: t('links.name'), isHead: true, cell: ({ name, ip }) => name || ip },
            { name: t('links.via'), cell: ({ via }) => via },
            { name: t('links.address'), cell: ({ ip }) => ip || '–' },
            { name: t('links.seen'), cell: ({ seen }) => ago(seen) },
          ]}
        />
      )}
      <p class="quiet">
        {at(document, 'udp.enabled') === true && t('links.udp', { port: numberAt(document, 'udp.port') ?? 0 })}
      </p>
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

function Rovers({ document }: { document: Json }) {
  if (at(document, 'ntrip.caster') === undefined) return null
  const rovers = listAt<Rover>(document, 'ntrip.caster.rovers')
  const isOpen = at(document, 'ntrip.caster.enabled') === true
  return (
    <Card title={t('links.rovers')}>
      <p>
        {isOpen
          ? t('links.caster', {
              port: numberAt(document, 'ntrip.caster.port') ?? 0,
              mounts: listAt<string>(document, 'ntrip.caster.mounts').join(', '),
            })
          : t('links.casterOff')}
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
        run={() => api.command('ntrip-kick', String(id))}
      />
    </div>
  )
}

/** Their streams are passed on as they are: nothing here vouches for them. */
function ForeignBases({ document }: { document: Json }) {
  const bases = listAt<ForeignBase>(document, 'ntrip.caster.bases')
  if (bases.length === 0) return null
  return (
    <Card title={t('links.bases')}>
      <DataTable
        label={t('links.bases')}
        rows={bases}
        keyOf={({ mount }) => mount}
        columns={[
          { name: t('links.mount'), isHead: true, cell: ({ mount }) => mount },
          {
            name: t('links.state'),
            cell: ({ connected }) => (
              <Tone tone={connected ? 'good' : 'broken'}>{t(connected ? 'links.state.up' : 'links.state.down')}</Tone>
            ),
          },
          { name: t('links.address'), cell: ({ ip, agent }) => [ip, agent].filter(Boolean).join(' · ') || '–' },
          { name: t('links.silent'), cell: ({ silent, connected }) => (connected ? duration(silent) : '–') },
          { name: t('links.connected'), isNumber: true, cell: ({ rovers }) => figure(rovers, 0) },
        ]}
      />
    </Card>
  )
}

interface Step {
  t: number
  step: string
  text: string
  done: boolean
}

function Outputs({ document }: { document: Json }) {
  if (at(document, 'links') === undefined) return null
  const outputs = listAt<Output>(document, 'links.outputs')
  const steps = listAt<Step>(document, 'links.recovery.steps')
  const waiting = textAt(document, 'links.recovery.text')
  const outage = numberAt(document, 'links.recovery.outage') ?? 0
  return (
    <Card title={t('links.outputs')}>
      {outage > 0 && <p class="trouble">{t('links.outage', { time: duration(outage) })}</p>}
      {waiting && <p>{waiting}</p>}
      {outputs.map(({ name, state, reason, since, next, attempts, step, family }) => (
        <div key={name} class="command">
          <h3>{name}</h3>
          <p>
            <Tone tone={toneOf(state)}>{word('links.state', state)}</Tone>{' '}
            <span class="quiet">{t('verdict.for', { time: duration(since) })}</span>
          </p>
          {reason && <p>{reason}</p>}
          {state !== 'up' && state !== 'idle' && (
            <p>
              {t('links.next')}: {nextText(next, attempts, word('links.step', step))}
            </p>
          )}
          {family !== 0 && <p class="quiet">IPv{family}</p>}
        </div>
      ))}
      {steps.length > 0 && (
        <>
          <h3>{t('links.steps')}</h3>
          <ul class="plain">
            {[...steps].reverse().map((one) => (
              <li key={`${one.t} ${one.step}`}>
                {moment(one.t)}: {one.text} {!one.done && t('links.notDone')}
              </li>
            ))}
          </ul>
        </>
      )}
      <FigureList
        rows={[
          [t('links.uplink'), textAt(document, 'links.recovery.uplink')],
          [t('links.restarts'), figure(numberAt(document, 'links.recovery.restarts'), 0)],
        ]}
      />
    </Card>
  )
}

const nextText = (next: number, attempts: number, how: string) =>
  [
    next > 0 ? t('links.in', { time: duration(next) }) : t('links.underWay'),
    how,
    t('links.attempts', { count: attempts }),
  ]
    .filter(Boolean)
    .join(' · ')

/** Whether a caster is there, took the stream, and acknowledges what is sent. */
function Pushes({ document }: { document: Json }) {
  const pushes = listAt<Push>(document, 'ntrip.server')
  if (pushes.length === 0) return null
  return (
    <Card title={t('links.pushes')}>
      {pushes.map(({ host, port, mount, version, tls, state, text, next, since, sent, dropped }) => (
        <div key={`${host} ${port} ${mount}`} class="command">
          <h3>
            {host}:{port}/{mount}
          </h3>
          <p>
            <Tone tone={toneOf(state)}>{word('links.push', state)}</Tone>
          </p>
          {text && <p>{text}</p>}
          <FigureList
            rows={[
              [t('links.protocol'), `NTRIP ${version}${tls ? ', TLS' : ''}`],
              [t('links.for'), since > 0 && duration(since)],
              [t('links.next'), next > 0 && t('links.in', { time: duration(next) })],
              [t('links.sent'), figure(sent, 0)],
              [t('links.dropped'), figure(dropped, 0)],
            ]}
          />
        </div>
      ))}
      <p class="quiet">{t('links.proof')}</p>
    </Card>
  )
}

interface TcpPush {
  host: string
  port: number
  state: string
  text: string
  dropped: number
}

function Tcp({ document }: { document: Json }) {
  const pushes = listAt<TcpPush>(document, 'rtcm_tcp.push')
  const port = numberAt(document, 'rtcm_tcp.port') ?? 0
  if (port === 0 && pushes.length === 0) return null
  return (
    <Card title={t('links.tcp')}>
      {port > 0 && <p>{t('links.tcpPort', { port, count: numberAt(document, 'rtcm_tcp.connected') ?? 0 })}</p>}
      {pushes.length > 0 && (
        <DataTable
          label={t('links.tcp')}
          rows={pushes}
          keyOf={({ host, port: of }) => `${host}:${of}`}
          columns={[
            { name: t('links.address'), isHead: true, cell: (push) => `${push.host}:${push.port}` },
            {
              name: t('links.state'),
              cell: ({ state, text }) => (
                <>
                  <Tone tone={toneOf(state)}>{word('links.push', state)}</Tone>
                  {text && <div>{text}</div>}
                </>
              ),
            },
            { name: t('links.dropped'), isNumber: true, cell: ({ dropped }) => figure(dropped, 0) },
          ]}
        />
      )}
    </Card>
  )
}

function Mqtt({ document }: { document: Json }) {
  const link = textAt(document, 'mqtt.state.link')
  if (link === '') return null
  const certificate = certificateOf(document)
  const trouble = textAt(document, 'mqtt.state.error.text')
  return (
    <Card title="MQTT">
      <p class="large">
        <Tone tone={toneOf(link)}>{word('links.mqtt', link)}</Tone>
      </p>
      {trouble && <p class="trouble">{trouble}</p>}
      <FigureList
        rows={[
          [t('links.broker'), `${textAt(document, 'mqtt.host') || '–'}:${numberAt(document, 'mqtt.port') ?? ''}`],
          [t('links.interface'), textAt(document, 'mqtt.via')],
          [t('links.topic'), textAt(document, 'mqtt.rtcm.topic')],
          [t('links.published'), t(at(document, 'mqtt.rtcm.active') === true ? 'links.yes' : 'links.no')],
          [t('links.every'), figure(numberAt(document, 'mqtt.rtcm.rate'), 0, 's')],
          [t('links.sessions'), figure(numberAt(document, 'mqtt.stat.sessions'), 0)],
        ]}
      />
      {certificate ? (
        <>
          <h3>{t('links.certificate')}</h3>
          <p>
            <Tone tone={certificate.tone}>
              {certificate.days === undefined
                ? moment(certificate.until)
                : certificate.days < 0
                  ? t('links.expired', { time: moment(certificate.until) })
                  : t('links.expires', { time: moment(certificate.until), days: certificate.days })}
            </Tone>
          </p>
          <FigureList
            rows={[
              [t('links.validFrom'), moment(certificate.from)],
              [t('links.serial'), certificate.serial],
            ]}
          />
        </>
      ) : (
        <p class="quiet">{t('links.noCertificate')}</p>
      )}
    </Card>
  )
}

/** Corrections of another base, for a corrected survey-in. */
function Incoming({ document }: { document: Json }) {
  const count = numberAt(document, 'gnss.state.recvrtcm.count') ?? 0
  const client = textAt(document, 'ntrip.client.state')
  const isOff = client === '' || client === 'off'
  if (count === 0 && isOff) return null
  return (
    <Card title={t('links.incoming')}>
      {!isOff && (
        <p>
          <Tone tone={toneOf(client)}>{word('links.push', client)}</Tone> {textAt(document, 'ntrip.client.host')}/
          {textAt(document, 'ntrip.client.mount')} {textAt(document, 'ntrip.client.text')}
        </p>
      )}
      {count > 0 && (
        <FigureList
          rows={[
            [t('links.source'), textAt(document, 'gnss.state.recvrtcm.remote')],
            [t('links.distance'), figure((numberAt(document, 'gnss.state.recvrtcm.dist') ?? 0) / 1_000, 1, 'km')],
            [t('links.seen'), ago(numberAt(document, 'gnss.state.recvrtcm.age') ?? 0)],
            [t('links.messages'), figure(count, 0)],
          ]}
        />
      )}
    </Card>
  )
}
