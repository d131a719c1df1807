import type { BandKind } from '../model/band-kinds.js'

export interface DrawnBand {
  readonly key: string | number
  readonly kind: BandKind
  /** Of the whole axis, 0 to 1. */
  readonly x: number
  readonly width: number
}

/** Drawing of a time. */
export interface DrawnTime {
  readonly bands: readonly DrawnBand[]
  /** Texts, spread evenly over the axis. */
  readonly marks: readonly string[]
  readonly legend: readonly (readonly [kind: BandKind, text: string])[]
}

/** A time as bands of colour, with what each colour means. */
export function Bands(props: DrawnTime & { label: string }) {
  const { bands, label, legend, marks } = props
  return (
    <>
      <div class="day-axis">
        <svg class="day-band" viewBox="0 0 1000 40" preserveAspectRatio="none" role="img" aria-label={label}>
          {bands.map(({ key, kind, width, x }) => (
            <rect
              key={key}
              class={`cause-${kind}`}
              x={x * 1_000}
              y={0}
              // Of a short one at least a line is seen.
              width={Math.max(width * 1_000, kind === 'good' ? 0 : 3)}
              height={40}
            />
          ))}
        </svg>
        <p class="day-hours" aria-hidden="true">
          {marks.map((mark, at) => (
            <span key={at}>{mark}</span>
          ))}
        </p>
      </div>
      <ul class="legend">
        {legend.map(([kind, text]) => (
          <li key={kind}>
            <svg class="swatch" viewBox="0 0 28 16" aria-hidden="true">
              <rect class={`cause-${kind}`} width="28" height="16" />
            </svg>
            {text}
          </li>
        ))}
      </ul>
    </>
  )
}
