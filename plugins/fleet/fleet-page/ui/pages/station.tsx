import { useCallback, useEffect } from 'preact/hooks'
import { duration, figure, moment, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type Value, ValueList } from '../../../../../runtime/lib/page/ui/parts/values.js'
import { Chain } from '../../../../../runtime/lib/page/ui/station/chain-card.js'
import { at, errorsOf, type Json, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { MessagesCard } from '../../../../../runtime/lib/page/ui/station/messages-card.js'
import { fleetApi, type StationDetail } from '../fleet/api.js'
import { hasPart, may, stationOf } from '../fleet/live.js'
import { type TextKey, t } from '../i18n/index.js'
import { hasPlace } from '../model/clusters.js'
import { verdictNow } from '../model/filter.js'
import { AcceptanceCard } from '../parts/acceptance-card.js'
import { DeliveryCard } from '../parts/delivery.js'
import { DocumentChanges } from '../parts/document-changes.js'
import { NetCard } from '../parts/net-card.js'
import { AskDocument, StationActions } from '../parts/station-actions.js'
import { StationTimeline } from '../parts/station-timeline.js'
import { VerdictMark } from '../parts/verdict-mark.js'
import { serialHere } from '../place.js'
import { causeText } from '../words.js'

/** One station: how it is, what its document says, its last days, and what can be done. */
export function StationPage() {
  const serial = serialHere()
  return <Station key={serial} serial={serial} />
}

function Station({ serial }: { serial: string }) {
  const row = stationOf(serial)
  const detail = useLoaded(useCallback(() => fleetApi.station(serial), [serial]))
  const documentAt = detail.value?.documentAt ?? 0
  const document = useLoaded(
    useCallback(async () => (documentAt > 0 ? await fleetApi.document(serial) : undefined), [serial, documentAt]),
  )
  // Its row is replaced when something about it changes.
  useEffect(() => {
    if (row) void detail.again()
  }, [row, detail.again])
  return (
    <Waiting of={detail}>
      {(found) => (
        <>
          <VerdictCard station={found} document={document.value} />
          {document.value && <FromDocument document={document.value} />}
          <StationTimeline serial={serial} row={row} />
          {hasPart('fleet-net') && <NetCard serial={serial} />}
          {hasPart('fleet-net') && <AcceptanceCard serial={serial} />}
          {may('operator') && <StationActions station={found} />}
          {hasPart('fleet-caster') && <DeliveryCard serial={serial} />}
          <DocumentChanges serial={serial} documentAt={found.documentAt} />
        </>
      )}
    </Waiting>
  )
}

const placeText = (station: StationDetail): string => {
  const { alt, lat, lon } = station
  if (!hasPlace(station)) return ''
  return `${Math.abs(lat).toFixed(6)}° ${lat < 0 ? 'S' : 'N'}, ${Math.abs(lon).toFixed(6)}° ${lon < 0 ? 'W' : 'E'}${alt === 0 ? '' : `, ${figure(alt, 1, 'm')}`}`
}

const times = (t_s: unknown) => Number(t_s) > 0 && moment(Number(t_s))
const values: readonly Value<TextKey>[] = [
  ['station.serial', 'serial'],
  ['list.group', 'group'],
  ['station.place', 'lat', (_, station) => placeText(station as unknown as StationDetail)],
  ['list.version', 'version'],
  ['station.variant', 'variant'],
  ['station.uplink', 'uplink'],
  ['station.rovers', 'rovers', (rovers) => Number(rovers) > 0 && figure(Number(rovers), 0)],
  ['station.signed', 'signed', (isSigned) => t(isSigned ? 'station.yes' : 'station.no')],
  ['station.certificate', 'certificateUntil', times],
  [
    'station.update',
    'update.state',
    (state, station) => `${state}${at(station, 'update.failed') === true ? ` (${t('station.failed')})` : ''}`,
  ],
  [
    'station.labels',
    'labels',
    (labels) =>
      Object.entries(labels as StationDetail['labels'])
        .map(([key, value]) => `${key}=${value}`)
        .join(', '),
  ],
  ['station.firstSeen', 'firstSeen', times],
  ['station.seen', 'seen', times],
  ['station.documentAt', 'documentAt', times],
]

function VerdictCard({ station, document }: { station: StationDetail; document: Json | undefined }) {
  const { cause, documentAt, name, online, onlineSince, serial, since, verdict, why } = station
  const now_s = Date.now() / 1_000
  const own = document && addressOf(document)
  return (
    <Card title={name || serial}>
      <div class="fleet-verdict">
        <VerdictMark verdict={verdictNow(station)} isOffline={online === 'offline'} />
        <div>
          <p class="large" role="status">
            <strong>
              {online === 'offline'
                ? t('list.offline', { verdict: word('verdict', verdict) })
                : word('verdict', verdict)}
            </strong>
            {cause !== 'ok' && cause !== '' && ` – ${causeText(cause)}`}
          </p>
          {/* In the language of the station. */}
          {why && <p lang="en">{why}</p>}
          {since > 0 && (
            <p class="quiet">{t('station.since', { time: moment(since), for: duration(now_s - since) })}</p>
          )}
          <p>
            {word('online', online)}
            {onlineSince > 0 && (
              <span class="quiet">
                {' '}
                {t('station.since', { time: moment(onlineSince), for: duration(now_s - onlineSince) })}
              </span>
            )}
          </p>
        </div>
      </div>
      <ValueList document={{ ...station }} of={values} />
      {document && documentAt < since && (
        <div>
          <p>{t('station.older', { time: moment(documentAt) })}</p>
          {may('operator') && <AskDocument serial={serial} />}
        </div>
      )}
      {own && (
        <p>
          <a class="target" href={`http://${own}/`} rel="noreferrer" target="_blank">
            {t('station.ownPage', { address: own })}
          </a>
        </p>
      )}
    </Card>
  )
}

/** An address in the network of the station; only digits and dots become a link. */
function addressOf(document: Json): string | undefined {
  const found = [textAt(document, 'eth.ip'), textAt(document, 'sta.ip4')].find((one) =>
    /^\d{1,3}(\.\d{1,3}){3}$/.test(one),
  )
  return found === '0.0.0.0' ? undefined : found
}

/** As on the page of the station itself. A document of another make has only some of it. */
function FromDocument({ document }: { document: Json }) {
  const errors = errorsOf(document).filter((one) => typeof one === 'object' && one !== null)
  return (
    <>
      {at(document, 'gnss.state') !== undefined && <Chain document={document} />}
      {errors.length > 0 && (
        <Card title={t('station.errors', { count: errors.length })}>
          <ul class="list">
            {errors.map(({ code, t: since, text }, index) => (
              <li key={index} class="command">
                <p lang="en">{String(text || code)}</p>
                {since > 0 && <p class="quiet">{t('errors.since', { time: moment(since) })}</p>}
              </li>
            ))}
          </ul>
        </Card>
      )}
      {at(document, 'gnss.rtcm.msgs') !== undefined && <MessagesCard document={document} />}
    </>
  )
}
