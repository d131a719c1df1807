import { useCallback } from 'preact/hooks'
import { ecefToGeodetic } from '../../../../../runtime/lib/gnss/geodesy.js'
import { change } from '../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { CopyButton } from '../../../../../runtime/lib/page/ui/parts/copy-button.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type Json, numberAt, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { duration, figure, moment, t, word } from '../i18n/index.js'
import { enuText, lengthText } from '../i18n/lengths.js'
import { sentence } from '../i18n/plugin-texts.js'
import { geoLink } from '../model/gnss/geodesy.js'
import { frameText, type HistoryRow, historyRows, namedPositions, referenceOf } from '../model/gnss/positions.js'
import { PositionForm } from '../parts/forms/position-form.js'
import { ReferenceMap } from '../parts/map-card.js'
import { NeighboursCard } from '../parts/neighbours-card.js'
import { PppCard } from '../parts/ppp-card.js'
import { RawCard } from '../parts/raw-card.js'
import { KeepUnderName, loadPositions, SavedList } from '../parts/saved-positions.js'
import { place } from '../place.js'
import { api } from '../station/api.js'
import { document$ } from '../station/live.js'

/** Which position the base announces, which ones it announced before, and the way back to them. */
export function PositionsPage() {
  const document = document$.value
  const list = useLoaded(loadPositions)
  const again = useCallback(() => void setTimeout(list.again, 2_000), [list.again])
  if (!document) return <p>{t('app.connecting')}</p>
  return (
    <>
      <Present document={document} />
      <NeighboursCard document={document} />
      <Card title={t('positions.enter')}>
        <p>{t('positions.enterHint')}</p>
        <PositionForm
          done={() => {
            void list.again()
            again()
          }}
        />
      </Card>
      <Card title={t('saved.title')}>
        <Waiting of={list}>
          {(positions) => (
            <SavedList
              positions={namedPositions(positions)}
              reference={referenceOf(document)}
              again={list.again}
              used={again}
            />
          )}
        </Waiting>
      </Card>
      <PppCard isWanted={place.value.query.has('exact')} used={again} />
      <RawCard />
      <Card title={t('positions.history')}>
        <Waiting of={list}>
          {(positions) => (
            <History rows={historyRows(positions, referenceOf(document))} again={again} saved={list.again} />
          )}
        </Waiting>
      </Card>
    </>
  )
}

function Present({ document }: { document: Json }) {
  const reference = referenceOf(document)
  const chosen = textAt(document, 'gnss.ref.chosen')
  const other = chosen === 'survey' ? 'manual' : 'survey'
  const hasOther = textAt(document, `gnss.ref.${other}.type`) !== ''
  const of = (name: string) => `gnss.ref.${chosen}.${name}`
  const place = reference && ecefToGeodetic(reference)
  const distance = numberAt(document, 'gnss.pos.delta') ?? 0
  return (
    <Card title={t('positions.present')}>
      <p class="large">{reference ? word('positions.method', chosen) : t('positions.noReference')}</p>
      {reference && place && (
        <FigureList
          rows={[
            [t('survey.lat'), `${place.lat.toFixed(8)}°`],
            [t('survey.lon'), `${place.lon.toFixed(8)}°`],
            [t('survey.alt'), figure(place.alt, 3, 'm')],
            ['X', `${reference.x.toFixed(4)} m`],
            ['Y', `${reference.y.toFixed(4)} m`],
            ['Z', `${reference.z.toFixed(4)} m`],
            [
              t('positions.acc'),
              (numberAt(document, of('acc')) ?? 0) > 0 && lengthText(numberAt(document, of('acc')) ?? 0),
            ],
            [t('survey.frame'), [textAt(document, of('frame')), textAt(document, of('epoch'))].join(' ').trim()],
            [t('positions.determined'), moment(numberAt(document, of('t')) ?? 0)],
            [t('status.distance'), distance > 0 && lengthText(distance)],
            [
              t('survey.map'),
              <a key="map" class="target" href={geoLink(reference)}>
                {t('survey.openMap')}
              </a>,
            ],
          ]}
        />
      )}
      <div class="actions">
        {place && <CopyButton text={`${place.lat.toFixed(8)}, ${place.lon.toFixed(8)}, ${place.alt.toFixed(3)} m`} />}
        {hasOther && (
          <Action
            label={t(`positions.use.${other}`)}
            caution={<p>{t('positions.willUse')}</p>}
            run={async () => {
              await api.change({ 'gnss-ref-chosen': other })
              return t('positions.sent')
            }}
          />
        )}
      </div>
    </Card>
  )
}

interface Again {
  again: () => void
  /** A position was saved. */
  saved: () => void
}

function History({ rows, again, saved }: { rows: readonly HistoryRow[] } & Again) {
  if (rows.length === 0) return <p class="quiet">{t('positions.none')}</p>
  return (
    <>
      <ReferenceMap rows={rows} />
      <ol class="reference-history">
        {rows.map((row) => (
          <Entry key={row.event.id} row={row} again={again} saved={saved} />
        ))}
      </ol>
    </>
  )
}

function Entry({ row, again, saved }: { row: HistoryRow } & Again) {
  const { id, provenance, acc, samples, elapsed, source, event, away_m, isPresent } = row
  const { what, by, evidence, offset } = event
  const name = `${row.name || word('positions.provenance', provenance)}, ${moment(event.t)}`
  return (
    <li class={`command${what === 'moved' ? ' moved' : ''}`}>
      <h3>
        {t(what === 'moved' ? 'positions.moved' : 'positions.used', { id: event.id })} · {name}
        {isPresent && <strong class="badge">{t('positions.isPresent')}</strong>}
      </h3>
      {what === 'moved' && <p>{offset ? enuText(offset) : sentence(evidence ?? '')}</p>}
      <FigureList
        rows={[
          [t('positions.away'), !isPresent && away_m !== undefined && lengthText(away_m)],
          [t('positions.acc'), acc > 0 && lengthText(acc)],
          [t('positions.place'), placeText(row)],
          [t('positions.samples'), samples > 0 && `${figure(samples, 0)} (${duration(elapsed)})`],
          [t('links.source'), source],
          [t('survey.frame'), frameText(row)],
          [t('positions.by'), word('positions.by', by)],
        ]}
      />
      {!isPresent && what === 'used' && (
        <Action
          label={t('positions.back')}
          name={t('positions.backTo', { name })}
          caution={
            <>
              <p>{away_m === undefined ? name : t('positions.backText', { name, distance: lengthText(away_m) })}</p>
              <p>{t('positions.willUse')}</p>
            </>
          }
          run={async () => {
            await change(`/positions/${id}`, { method: 'POST' })
            again()
            return t('positions.sent')
          }}
        />
      )}
      {what === 'used' && row.name === '' && <KeepUnderName id={id} done={saved} />}
    </li>
  )
}

function placeText(row: HistoryRow): string {
  const { lat, lon, alt } = ecefToGeodetic(row)
  return `${lat.toFixed(8)}°, ${lon.toFixed(8)}°, ${figure(alt, 3, 'm')}`
}
