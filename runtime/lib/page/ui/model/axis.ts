/** Axes of a plot: what they span and where their marks stand. Pure. */

export interface Axis {
  readonly marks: readonly number[]
  /** Between two marks; of a logarithmic axis NaN. */
  readonly step: number
  /** 0 at the beginning of the axis, 1 at its end. */
  readonly at: (value: number) => number
}

const minute = 60
const hour = 3_600
const day = 86_400
/** Steps at which a clock is read, seconds. */
const clockSteps = [1, 2, 5, 10, 15, 30, ...[1, 2, 5, 10, 15, 30].map((n) => n * minute)]
const hourSteps = [1, 2, 3, 6, 12, 24].map((n) => n * hour)

/**
 * @param room number of marks that fit
 * @param offset_s of the reader's clock to UTC: marks stand at its full hours
 */
export function timeAxis(from: number, to: number, room: number, offset_s: number): Axis {
  const wanted = (to - from) / room
  const step = [...clockSteps, ...hourSteps].find((one) => one >= wanted) ?? Math.ceil(wanted / day) * day
  const marks = steps(from + offset_s, to + offset_s, step).map((at) => at - offset_s)
  return { marks, step, at: (value) => (value - from) / (to - from || 1) }
}

/**
 * @param least this and `most` are shown at any rate; the axis ends there unless a value lies beyond
 * @param room number of marks that fit
 */
export function linearAxis(values: Range, room: number, least?: number, most?: number): Axis {
  const low = Math.min(values.low, least ?? values.low)
  const high = Math.max(values.high, most ?? values.high)
  const margin = (high - low || Math.abs(high) || 1) * 0.08
  const from = least !== undefined && values.low >= least ? least : low - margin
  const to = most !== undefined && values.high <= most ? most : high + margin
  const step = roundAbove((to - from) / room)
  return { marks: steps(from, to, step), step, at: (value) => (value - from) / (to - from) }
}

/** Marks at 1, 2 and 5 of each decade; half a decade on both sides. */
export function logAxis({ low, high }: Range): Axis {
  const [from, to] = [low / 1.5, high * 1.5]
  const marks: number[] = []
  for (let decade = Math.floor(Math.log10(from)); decade <= Math.log10(to); decade++) {
    marks.push(...[1, 2, 5].map((first) => Number(`${first}e${decade}`)))
  }
  const span = Math.log(to / from)
  return {
    marks: marks.filter((mark) => mark >= from && mark <= to),
    step: Number.NaN,
    at: (value) => Math.log(value / from) / span,
  }
}

/** The size of a drawing, pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

export interface Range {
  readonly low: number
  readonly high: number
}

/** The next of 1, 2 and 5 times a power of ten. */
function roundAbove(value: number): number {
  const decade = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((first) => first * decade >= value * (1 - 1e-9)) ?? 10) * decade
}

function steps(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step - 1e-9)
  const count = Math.floor(to / step + 1e-9) - first + 1
  return Array.from({ length: Math.max(0, count) }, (_, at) => (first + at) * step)
}
