import { useCallback, useEffect } from 'preact/hooks'
import { duration, figure, moment, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Card, FigureList } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { Chain } from '../../../../../runtime/lib/page/ui/station/chain-card.js'
import { at, errorsOf, type Json, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { MessagesCard } from '../../../../../runtime/lib/page/ui/station/messages-card.js'
import { fleetApi, type StationDetail } from '../fleet/api.js'
import { hasPart, may, stationOf } from '../fleet/live.js'
import { t } from '../i18n/index.js'
import { hasPlace } from '../model/clusters.js'
import { verdictNow } from '../model/filter.js'
import { AcceptanceCard } from '../parts/acceptance-card.js'
import { DeliveryCard } from '../parts/delivery.js'
import { DocumentChanges } from '../parts/document-changes.js'
import { NetCard } from '../parts/net-card.js'
import { StationActions } from '../parts/station-actions.js'
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
    if (row) detail.again()
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

const place = ({ alt, lat, lon }: StationDetail): string =>
  `${Math.abs(lat).toFixed(6)}° ${lat < 0 ? 'S' : 'N'}, ${Math.abs(lon).toFixed(6)}° ${lon < 0 ? 'W' : 'E'}${alt === 0 ? '' : `, ${figure(alt, 1, 'm')}`}`

function VerdictCard({ station, document }: { station: StationDetail; document: Json | undefined }) {
  const { cause, name, online, onlineSince, serial, since, verdict, why } = station
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
      <FigureList
        rows={[
          [t('station.serial'), serial],
          [t('list.group'), station.group],
          [t('station.place'), hasPlace(station) && place(station)],
          [t('list.version'), station.version],
          [t('station.variant'), station.variant],
          [t('station.uplink'), station.uplink],
          [t('station.rovers'), station.rovers > 0 && figure(station.rovers, 0)],
          [t('station.signed'), t(station.signed ? 'station.yes' : 'station.no')],
          [t('station.certificate'), station.certificateUntil > 0 && moment(station.certificateUntil)],
          [
            t('station.update'),
            station.update.state &&
              `${station.update.state}${station.update.failed ? ` (${t('station.failed')})` : ''}`,
          ],
          [
            t('station.labels'),
            Object.entries(station.labels)
              .map(([key, value]) => `${key}=${value}`)
              .join(', '),
          ],
          [t('station.firstSeen'), station.firstSeen > 0 && moment(station.firstSeen)],
          [t('station.seen'), station.seen > 0 && moment(station.seen)],
          [t('station.documentAt'), station.documentAt > 0 && moment(station.documentAt)],
        ]}
      />
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
