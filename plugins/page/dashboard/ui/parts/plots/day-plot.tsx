/** Curves of the last 24 h, from the station's own history. */
import { useEffect } from 'preact/hooks'
import { type Loaded, useLoaded, Waiting } from '../../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type Curve, Plot } from '../../../../../../runtime/lib/page/ui/parts/plot.js'
import { duration, t } from '../../i18n/index.js'
import { coverage_s, day_s, hasValues, timesOf } from '../../model/series.js'
import { api } from '../../station/api.js'

export type DayCurve = Omit<Curve, 'values'> & {
  /** Of `GET /history`. */
  readonly figure: string
}

/** One value in two minutes. */
const step = 12
/** Of a station that has just started every sample is shown. */
const fewest = 30
const again_ms = 120_000

export type DaySeries = Awaited<ReturnType<typeof api.history>>

/** @param load a stable function, called again every two minutes */
export function useDay<T>(load: () => Promise<T>): Loaded<T> {
  const found = useLoaded(load)
  useEffect(() => {
    const timer = setInterval(found.again, again_ms)
    return () => clearInterval(timer)
  }, [found.again])
  return found
}

export const dayOf = (figures: readonly string[]) => async (): Promise<DaySeries> => {
  const series = await api.history(figures, step)
  return timesOf(series).length < fewest ? api.history(figures, 1) : series
}

/** The axis of a gap of some minutes is that of a day. */
const play_s = 1_800

/** @param whole the title of a whole day; a station that has just started shows less */
export function dayTitle(whole: string, series: DaySeries | undefined): string {
  const covered_s = series ? coverage_s(series) : day_s
  return covered_s >= day_s - play_s ? whole : t('day.young', { time: duration(covered_s) })
}

export function DayPlot(props: {
  title: string
  of: Loaded<DaySeries>
  curves: readonly DayCurve[]
  least?: number
  most?: number
}) {
  const { curves, of, title, ...bounds } = props
  return (
    <Waiting of={of}>
      {(series) => {
        const shown = curves
          .map(({ figure, ...curve }) => ({ ...curve, values: series.figures[figure] ?? [] }))
          .filter(({ values }) => hasValues(values))
        const times = timesOf(series)
        if (shown.length === 0 || times.length < 2) return <p class="quiet">{t('plot.young', { title })}</p>
        return <Plot title={title} times={times} curves={shown} kind="clock" {...bounds} />
      }}
    </Waiting>
  )
}

/** C/N₀ of the last 24 h, by band. */
export const CnoPlot = ({ of }: { of: Loaded<DaySeries> }) => (
  <DayPlot
    title={t('day.cno')}
    of={of}
    curves={[
      { figure: 'cno-l1', label: 'L1', unit: 'dB-Hz', digits: 1, colour: 'gps' },
      { figure: 'cno-l2', label: 'L2, L5', unit: 'dB-Hz', digits: 1, colour: 'glonass' },
    ]}
  />
)
