import { useCallback, useEffect } from 'preact/hooks'
import { duration, locale, moment, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { kinds } from '../../../../../runtime/lib/page/ui/model/band-kinds.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { Timeline } from '../../../../../runtime/lib/page/ui/parts/timeline.js'
import { type Entry, fleetApi, type StationRow } from '../fleet/api.js'
import { t } from '../i18n/index.js'
import { gapsOf, type Span, spansOf, sumsOf } from '../model/timeline.js'
import { causeText } from '../words.js'

const days = 7
const day_s = 86_400
const atOnce = 500
/** Of a station that changes all the time. */
const mostPages = 6
const mostGaps = 100

interface Week {
  readonly from: number
  readonly to: number
  readonly entries: readonly Entry[]
}

/** All of the week, and one entry from before, which says how it began. */
async function weekOf(serial: string): Promise<Week> {
  const to = Math.floor(Date.now() / 1_000)
  const from = to - days * day_s
  const entries: Entry[] = []
  let after: Entry | undefined
  for (let page = 0; page < mostPages; page++) {
    const found = await fleetApi.record({ serial, kind: 'verdict,online', limit: atOnce, after })
    entries.push(...found)
    after = found.at(-1)
    if (found.length < atOnce || after === undefined || after.t < from) break
  }
  return { from, to, entries }
}

/** When the station could serve rovers, and why not, from the record of the fleet: also of times in which nobody could reach it. */
export function StationTimeline({ serial, row }: { serial: string; row: StationRow | undefined }) {
  const week = useLoaded(useCallback(() => weekOf(serial), [serial]))
  useEffect(() => void week.again(), [row, week.again])
  return (
    <Card title={t('week.title', { days })}>
      <Waiting of={week}>{(found) => <WeekBands week={found} row={row} />}</Waiting>
    </Card>
  )
}

const dayText = (t_s: number) =>
  new Intl.DateTimeFormat(locale(), { weekday: 'short', day: 'numeric', month: 'numeric' }).format(t_s * 1_000)
const causeOf = ({ cause }: Span) => (cause === 'offline' ? word('online', cause) : causeText(cause))

function WeekBands({ week: { entries, from, to }, row }: { week: Week; row: StationRow | undefined }) {
  const spans = spansOf(entries, from, to, row)
  const gaps = gapsOf(spans)
  const sums = sumsOf(spans)
  const summary = kinds
    .filter((kind) => sums[kind] > 0)
    .map((kind) => `${t(`week.${kind}`)}: ${duration(sums[kind])}`)
    .join(', ')
  const marks = Array.from({ length: days + 1 }, (_, at) => dayText(from + (at / days) * (to - from)))
  return (
    <Timeline
      summary={summary}
      bands={spans.map(({ from: start, kind, to: end }) => ({
        key: start,
        kind,
        x: (start - from) / (to - from),
        width: (end - start) / (to - from),
      }))}
      marks={matchMedia('(max-width: 40rem)').matches ? [marks[0] ?? '', marks.at(-1) ?? ''] : marks}
      legend={kinds.filter((kind) => sums[kind] > 0).map((kind) => [kind, t(`week.${kind}`)])}
      gaps={gaps.slice(0, mostGaps).map((gap) => ({
        key: gap.from,
        kind: gap.kind,
        time: `${moment(gap.from)} – ${gap.to >= to ? t('week.now') : moment(gap.to)}`,
        length_s: gap.to - gap.from,
        why: <p>{causeOf(gap)}</p>,
      }))}
      nothing={t(sums.good + sums.limited > 0 ? 'week.noGaps' : 'week.nothing')}
    >
      <h3>{t('week.why')}</h3>
    </Timeline>
  )
}
