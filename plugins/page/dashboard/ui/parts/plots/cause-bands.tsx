/** When corrections went out and why not: the one colouring of a time, wherever it is shown. */
import { Bands, type DrawnTime } from '../../../../../../runtime/lib/page/ui/parts/bands.js'
import { t, timeOfDay } from '../../i18n/index.js'
import { shareText } from '../../model/series.js'
import { type Band, bandsOf, beginOf, day_ms, kindShares, type Span } from '../../model/timeline.js'
import { api, Refused } from '../../station/api.js'

export interface Day {
  readonly from: number
  readonly to: number
  /** Undefined: this station keeps no record. */
  readonly spans: readonly Span[] | undefined
}

/** 24 hours of the record. @param back days before the last 24 hours */
export async function loadDay(back = 0): Promise<Day> {
  const to = Math.floor(Date.now() / 1_000) * 1_000 - back * day_ms
  const from = to - day_ms
  const ask = api.get<{ spans: Span[] }>(`/record/timeline?from=${from / 1_000}&to=${to / 1_000}`)
  const answer = await ask.catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  })
  return { from, to, spans: answer?.spans }
}

/** Within a few minutes only seconds tell two times apart. */
export const brief_ms = 600_000

/** The bands of a day; of a new station the axis begins with its record. */
export function dayBands({ from: asked, to }: Day, spans: readonly Span[]) {
  const from = beginOf(spans, asked)
  return { from, to, bands: bandsOf(spans, from, to) }
}

/** As it is drawn, with the shares of each colour. */
export function drawnDay(from: number, to: number, bands: readonly Band[]): DrawnTime {
  const isBrief = to - from < brief_ms
  return {
    bands: bands.map(({ kind, span, width, x }) => ({ key: span.from, kind, x, width })),
    marks: (isBrief ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((share) =>
      timeOfDay(from + share * (to - from), isBrief),
    ),
    legend: kindShares(bands).map(([kind, percent]) => [kind, `${t(`timeline.key.${kind}`)} ${shareText(percent)}`]),
  }
}

/** Bands of causes; the label are the shares, which the legend has too. */
export function CauseBands({ bands, from, to }: { from: number; to: number; bands: readonly Band[] }) {
  const drawn = drawnDay(from, to, bands)
  return <Bands {...drawn} label={drawn.legend.map(([, text]) => text).join(', ')} />
}
