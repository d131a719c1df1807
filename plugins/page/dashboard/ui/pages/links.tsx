import { Card, FigureList, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { type Json, numberAt, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { toneOf } from '../../../../../runtime/lib/page/ui/station/links.js'
import { ago, figure, t, word } from '../i18n/index.js'
import { document$ } from '../station/live.js'
import { Casters } from './links/casters.js'
import { Mqtt } from './links/mqtt.js'
import { Outbound } from './links/outbound.js'
import { Outputs } from './links/outputs.js'
import { Tcp } from './links/tcp.js'

/** The ways on which corrections leave the station, and come in from another base. */
export function LinksPage() {
  const document = document$.value
  if (!document) return <p>{t('app.connecting')}</p>
  return (
    <>
      <Casters document={document} />
      <Outputs document={document} />
      <Outbound document={document} />
      <Tcp document={document} />
      <Mqtt document={document} />
      <Incoming document={document} />
    </>
  )
}

/** Corrections of another base, for a corrected survey-in. */
export function Incoming({ document }: { document: Json }) {
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
