import type { ComponentChildren } from 'preact'
import { duration } from '../i18n.js'
import type { BandKind } from '../model/band-kinds.js'
import { Bands, type DrawnTime } from './bands.js'
import { Empty } from './empty.js'

/** A time that was not as it should be. */
export interface Gap {
  readonly key: number
  readonly kind: BandKind
  /** From when to when. */
  readonly time: string
  readonly length_s: number
  readonly why: ComponentChildren
}

/** A time in one sentence and as bands, and why it has gaps. */
export function Timeline(
  props: DrawnTime & {
    summary: string
    /** The newest first. */
    gaps: readonly Gap[]
    /** Said where there is no gap. */
    nothing: string
    /** Above the gaps. */
    children?: ComponentChildren
  },
) {
  const { children, gaps, nothing, summary, ...drawn } = props
  return (
    <>
      <p>{summary}</p>
      <Bands {...drawn} label={summary} />
      {children}
      {gaps.length === 0 ? (
        <Empty drawing="quiet">{nothing}</Empty>
      ) : (
        <ol class="list">
          {gaps.map(({ key, kind, length_s, time, why }) => (
            <li key={key} class="command gap">
              <svg viewBox="0 0 9 40" preserveAspectRatio="none" aria-hidden="true">
                <rect class={`cause-${kind}`} width="9" height="40" />
              </svg>
              <div>
                <p>
                  <strong>{time}</strong> <span class="quiet">{duration(length_s)}</span>
                </p>
                {why}
              </div>
            </li>
          ))}
        </ol>
      )}
    </>
  )
}
