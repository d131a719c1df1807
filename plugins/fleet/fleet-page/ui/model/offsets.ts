/** Daily offsets of a station as curves, and the hours of an acceptance test. Pure. */
import { type Axis, linearAxis, timeAxis } from '../../../../../runtime/lib/page/ui/model/axis.js'
import { axes, type Day, type Enu } from '../fleet/net-api.js'

const day_s = 86_400

export interface OffsetCurves {
  readonly across: Axis
  /** Millimetres. */
  readonly up: Axis
  /** The `d` of one path for each component, from the upper left corner. */
  readonly paths: Readonly<Record<keyof Enu, string>>
}

/**
 * @param days oldest first, at least two
 * @param width of the drawing, pixels, as its height
 */
export function offsetCurves(days: readonly Day[], width: number, height: number): OffsetCurves {
  const from = days[0]?.t ?? 0
  const to = Math.max(days.at(-1)?.t ?? 0, from + day_s)
  const all = days.flatMap(({ offset }) => axes.map((axis) => offset[axis] * 1_000))
  const range = all.reduce(({ high, low }, one) => ({ low: Math.min(low, one), high: Math.max(high, one) }), {
    low: Number.POSITIVE_INFINITY,
    high: Number.NEGATIVE_INFINITY,
  })
  // Noise of a millimetre does not look like a movement.
  const up = linearAxis(range, height / 30, -5, 5)
  const across = dayAxis(from, to, width / 80)
  const pathOf = (axis: keyof Enu) =>
    days
      .map(({ offset, t }, at) => {
        const isGap = t - (days[at - 1]?.t ?? Number.NEGATIVE_INFINITY) > 1.5 * day_s
        const point = `${(across.at(t) * width).toFixed(1)} ${((1 - up.at(offset[axis] * 1_000)) * height).toFixed(1)}`
        // A day between two gaps is a dot.
        return isGap ? `M${point}h0` : `L${point}`
      })
      .join('')
  return { across, up, paths: { east: pathOf('east'), north: pathOf('north'), up: pathOf('up') } }
}

/** Marks stand at whole days. */
function dayAxis(from: number, to: number, room: number): Axis {
  const axis = timeAxis(from, to, Math.max(1, Math.min(room, (to - from) / day_s)), 0)
  return { ...axis, marks: axis.marks.filter((mark) => mark % day_s === 0) }
}

/** The hours that an acceptance test may take. */
export const testHours = { least: 1, most: 71, usual: 24 } as const

/** Hours as entered; undefined: no test lasts that long. */
export function hoursFrom(text: string): number | undefined {
  const hours = /^\d{1,2}$/.test(text.trim()) ? Number(text) : 0
  return hours >= testHours.least && hours <= testHours.most ? hours : undefined
}
