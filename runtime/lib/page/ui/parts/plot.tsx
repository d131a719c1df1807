/** Curves over time, drawn; a table shows the same data. */
import { useState } from 'preact/hooks'
import { duration, figure, locale, moment, t, timeOfDay } from '../i18n.js'
import { type Axis, linearAxis, logAxis, timeAxis } from '../model/axis.js'
import { extentOf, thinned, type Values } from '../model/curves.js'
import { DataTable } from './data-table.js'
import { useSize } from './use-size.js'

export interface Curve {
  readonly label: string
  readonly values: Values
  /** Standard deviations, for the table; 0: not known. */
  readonly sigmas?: readonly number[]
  readonly unit: string
  readonly digits: number
  /** Of the class `stroke-…`, e.g. `main`. */
  readonly colour: string
}

/** Something that happened at a time. */
export interface Note {
  readonly t: number
  readonly text: string
}

/** Seconds since the beginning; UTC seconds; UTC seconds of which each is a day. */
type TimeKind = 'elapsed' | 'clock' | 'days'

export interface PlotProps {
  readonly title: string
  readonly times: readonly number[]
  readonly curves: readonly Curve[]
  readonly kind: TimeKind
  readonly notes?: readonly Note[]
  readonly isLog?: boolean
  /** The axis of values contains both. */
  readonly least?: number | undefined
  readonly most?: number | undefined
}

/** Told apart without colour. */
const dashes = ['none', '7 4', '2 3', '10 3 2 3']
const dashOf = (at: number) => dashes[at % dashes.length]
const tableRows = 25
const day_s = 86_400

export function Plot(props: PlotProps) {
  const { curves, kind, notes = [], times, title } = props
  const [under, setUnder] = useState<number>()
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <Legend curves={curves} at={under} time={under === undefined ? undefined : times[under]} kind={kind} />
      <Drawing {...props} under={under} point={setUnder} />
      {notes.length > 0 && (
        <ul class="plain quiet">
          {notes.map(({ t: at, text }) => (
            <li key={at}>
              {wholeTime(at, kind)}: {text}
            </li>
          ))}
        </ul>
      )}
      <Numbers title={title} times={times} curves={curves} kind={kind} />
    </figure>
  )
}

const height = 220
const [left, right, top, bottom] = [58, 26, 10, 30]
const [mark_px, line_px] = [70, 30]

function Drawing(props: PlotProps & { under: number | undefined; point: (at: number | undefined) => void }) {
  const { curves, kind, notes = [], point, times, title, under } = props
  const [{ width }, place] = useSize({ width: 300, height })
  const [inner, tall] = [Math.max(1, width - left - right), height - top - bottom]
  const [from = 0] = times
  const to = times.at(-1) ?? from
  const offset_s = kind === 'clock' ? -new Date(to * 1_000).getTimezoneOffset() * 60 : 0
  // Marks of days stand at whole ones.
  const room = kind === 'days' ? Math.max(1, Math.min(inner / mark_px, (to - from) / day_s)) : inner / mark_px
  const whole = timeAxis(from, to, room, offset_s)
  const across = kind === 'days' ? { ...whole, marks: whole.marks.filter((mark) => mark % day_s === 0) } : whole
  const up = valueAxis(props, tall / line_px)
  const x = (time: number) => (left + across.at(time) * inner).toFixed(1)
  const y = (value: number) => (top + (1 - up.at(value)) * tall).toFixed(1)
  const look = ({ currentTarget, clientX }: PointerEvent) => {
    const part = (clientX - (currentTarget as Element).getBoundingClientRect().left - left) / inner
    point(nearest(times, from + part * (to - from)))
  }
  return (
    <div ref={place} class="plot-area">
      <svg
        role="img"
        aria-label={`${title}. ${summary(curves)}`}
        width={width}
        height={height}
        onPointerMove={look}
        onPointerDown={look}
        onPointerLeave={() => point(undefined)}
      >
        <path class="grid" d={up.marks.map((mark) => `M${left} ${y(mark)}h${inner}`).join('')} />
        <path class="grid" d={across.marks.map((mark) => `M${x(mark)} ${top}v${tall}`).join('')} />
        {up.marks.map((mark) => (
          <text key={mark} class="mark value" x={left - 8} y={y(mark)}>
            {markText(mark, up.step)}
          </text>
        ))}
        {across.marks.map((mark) => (
          <text key={mark} class="mark" x={x(mark)} y={height - 10}>
            {timeText(mark, kind, across.step)}
          </text>
        ))}
        {curves.map(({ colour, label, values }, at) => (
          <path
            key={label}
            class={`curve stroke-${colour}`}
            stroke-dasharray={dashOf(at)}
            d={pathOf(values, (index, value) => `${x(times[index] ?? from)} ${y(value)}`, isDrawn(props))}
          />
        ))}
        {notes
          .filter((note) => note.t >= from && note.t <= to)
          .map((note) => (
            <path key={note.t} class="note" d={`M${x(note.t)} ${top}v${tall}`}>
              <title>{note.text}</title>
            </path>
          ))}
        {under !== undefined && <path class="cursor" d={`M${x(times[under] ?? from)} ${top}v${tall}`} />}
      </svg>
    </div>
  )
}

/** Nothing at or below zero has a place on a logarithmic scale. */
const isDrawn =
  ({ isLog }: PlotProps) =>
  (value: number | null) =>
    value !== null && (!isLog || value > 0)

function valueAxis(props: PlotProps, room: number): Axis {
  const known = props.curves.flatMap(({ values }) => values.filter(isDrawn(props)) as number[])
  const range = known.length === 0 ? { low: 0.1, high: 1 } : { low: Math.min(...known), high: Math.max(...known) }
  return props.isLog ? logAxis(range) : linearAxis(range, room, props.least, props.most)
}

/** A gap where a value is missing; a value between two gaps is a dot. */
function pathOf(
  values: Values,
  at: (index: number, value: number) => string,
  isDrawn: (value: number | null) => boolean,
): string {
  return values
    .map((value, index) => {
      if (value === null || !isDrawn(value)) return ''
      const before = index === 0 ? null : (values[index - 1] ?? null)
      return isDrawn(before) ? `L${at(index, value)}` : `M${at(index, value)}h0`
    })
    .join('')
}

/** The index of the time that is nearest. */
function nearest(times: readonly number[], wanted: number): number | undefined {
  let found: number | undefined
  let distance = Number.POSITIVE_INFINITY
  for (const [at, time] of times.entries()) {
    if (Math.abs(time - wanted) >= distance) continue
    distance = Math.abs(time - wanted)
    found = at
  }
  return found
}

/** With the decimals that tell two marks apart. */
const markText = (mark: number, step: number): string =>
  Number.isNaN(step)
    ? String(Number(mark.toPrecision(2)))
    : figure(mark, Math.min(3, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))))

const dayFormat = (more: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale(), { timeZone: 'UTC', ...more })

/** @param step between two times, seconds: whether seconds are shown */
function timeText(at: number, kind: TimeKind, step = 60): string {
  if (kind === 'elapsed') return duration(at)
  if (kind === 'days') return dayFormat({ day: 'numeric', month: 'short' }).format(at * 1_000)
  return timeOfDay(at * 1_000, step < 60)
}

function wholeTime(at: number, kind: TimeKind): string {
  if (kind === 'days') return dayFormat({ dateStyle: 'medium' }).format(at * 1_000)
  return kind === 'clock' ? moment(at) : duration(at)
}

/** Values of the moment under the cursor, else the newest. */
function Legend(props: Pick<PlotProps, 'curves' | 'kind'> & { at: number | undefined; time: number | undefined }) {
  const { at, curves, kind, time } = props
  return (
    <ul class="legend">
      {curves.map(({ colour, digits, label, unit, values }, index) => (
        <li key={label}>
          <svg class="swatch" viewBox="0 0 28 8" aria-hidden="true">
            <path d="M0 4H28" class={`stroke-${colour}`} stroke-width="3" stroke-dasharray={dashOf(index)} />
          </svg>
          {label} <strong>{figure(values.at(at ?? -1) ?? undefined, digits, unit)}</strong>
        </li>
      ))}
      {time !== undefined && <li class="quiet">{timeText(time, kind)}</li>}
    </ul>
  )
}

function Numbers({ curves, kind, times, title }: Pick<PlotProps, 'title' | 'times' | 'curves' | 'kind'>) {
  const [isOpen, setOpen] = useState(false)
  const columns = [
    {
      name: t('plot.time'),
      isHead: true,
      cell: (at: number) => wholeTime(times[at] ?? 0, kind),
    },
    ...curves.map(({ digits, label, sigmas = [], unit, values }) => ({
      name: label,
      isNumber: true,
      cell: (at: number) => {
        const text = figure(values[at] ?? undefined, digits, unit)
        return sigmas[at] ? `${text} ± ${figure(sigmas[at], digits, unit)}` : text
      },
    })),
  ]
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('plot.table')}</summary>
      {isOpen && (
        <DataTable
          label={title}
          columns={columns}
          rows={[...thinned(times.length, tableRows)].reverse()}
          keyOf={(at) => times[at] ?? at}
        />
      )}
    </details>
  )
}

const summary = (curves: readonly Curve[]): string =>
  curves
    .map(({ digits, label, unit, values }) => {
      const extent = extentOf(values)
      if (!extent) return `${label}: –`
      const { least, most, last } = extent
      return t('plot.summary', {
        label,
        least: figure(least, digits),
        most: figure(most, digits, unit),
        last: figure(last, digits, unit),
      })
    })
    .join(' ')
