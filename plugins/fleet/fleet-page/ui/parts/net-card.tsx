import { useCallback, useEffect } from 'preact/hooks'
import { duration, figure, moment, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Card, FigureList, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { stationOf } from '../fleet/live.js'
import { netAgain_ms } from '../fleet/net.js'
import { type Judgement, netApi, type Pair } from '../fleet/net-api.js'
import { t } from '../i18n/index.js'
import { apart_m } from '../model/net.js'
import { NetCurve } from './net-curve.js'
import { offsetRows, Reason, stateTones } from './net-words.js'

/** A station in the middle of a dense net. */
const mostPairs = 100

/** Whether the neighbours confirm the announced position of a station, by each of them, and day by day. */
export function NetCard({ serial }: { serial: string }) {
  const found = useLoaded(useCallback(() => netApi.station(serial), [serial]))
  useEffect(() => {
    const timer = setInterval(found.again, netAgain_ms)
    return () => clearInterval(timer)
  }, [found.again])
  return (
    <Card title={t('net.title')}>
      <Waiting of={found}>
        {({ days, judgement, pairs }) => (
          <>
            {judgement ? <Judged judgement={judgement} /> : <Tone tone="idle">{t('net.never')}</Tone>}
            <Pairs serial={serial} pairs={pairs} />
            {days.length > 1 && <NetCurve days={days} judgement={judgement} />}
          </>
        )}
      </Waiting>
    </Card>
  )
}

function Judged({ judgement }: { judgement: Judgement }) {
  const { cause, offset, reason, sigma, since, state, vectors } = judgement
  const hasOffset = state !== 'unknown' || reason === 'pending'
  return (
    <>
      <p>
        <Tone tone={stateTones[state]}>
          <strong>{word('net.state', state)}</strong>
        </Tone>{' '}
        – <Reason of={reason} />
      </p>
      {since > 0 && (
        <p class="quiet">{t('station.since', { time: moment(since), for: duration(Date.now() / 1_000 - since) })}</p>
      )}
      {hasOffset && <p class="quiet">{t('net.offset')}</p>}
      <FigureList
        rows={[
          ...(hasOffset ? offsetRows(offset, sigma) : []),
          [t('net.cause'), cause.kind && word('net.cause', cause.kind)],
          [t('net.neighbours'), figure(vectors, 0)],
        ]}
      />
      {cause.text && <p lang="en">{cause.text}</p>}
    </>
  )
}

function Pairs({ pairs, serial }: { pairs: readonly Pair[]; serial: string }) {
  if (pairs.length === 0) return <p class="quiet">{t('net.noPairs')}</p>
  const neighbour = ({ one, other }: Pair) => (one === serial ? other : one)
  return (
    <>
      <h3>{t('net.pairs')}</h3>
      <DataTable
        label={t('net.pairs')}
        rows={pairs.slice(0, mostPairs)}
        keyOf={neighbour}
        columns={[
          {
            name: t('net.neighbour'),
            isHead: true,
            cell: (pair) => (
              <a class="target" href={`#/station/${encodeURIComponent(neighbour(pair))}`}>
                {neighbour(pair)}
              </a>
            ),
          },
          { name: t('net.distance'), cell: (pair) => distanceText(serial, neighbour(pair)) },
          { name: t('net.vector'), cell: ({ status }) => word('net.status', status || 'waiting') },
          { name: t('net.reason'), cell: ({ reason }) => reason !== 'ok' && <Reason of={reason} /> },
          { name: t('net.tried'), cell: ({ tried }) => moment(tried) },
        ]}
      />
      {pairs.length > mostPairs && <p class="quiet">{t('net.more', { count: pairs.length - mostPairs })}</p>}
    </>
  )
}

function distanceText(one: string, other: string): string {
  const metres = apart_m(stationOf(one), stationOf(other))
  return metres === undefined ? '–' : figure(metres / 1_000, 1, 'km')
}
