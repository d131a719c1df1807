import { useEffect, useRef, useState } from 'preact/hooks'
import { duration, figure, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import type { StationRow } from '../fleet/api.js'
import { t } from '../i18n/index.js'
import { verdictNow } from '../model/filter.js'
import { causeText } from '../words.js'
import { VerdictMark } from './verdict-mark.js'

/** As in the style sheet. */
const row_px = 64
/** Above and below what is seen. */
const spare = 8

/** Any number of stations: only those that are seen are in the page. It scrolls by itself, also by keyboard. */
export function StationList({ rows }: { rows: readonly StationRow[] }) {
  const place = useRef<HTMLElement>(null)
  const [seen, setSeen] = useState({ top: 0, height: 600 })
  const look = () => {
    const element = place.current
    if (element) setSeen({ top: element.scrollTop, height: element.clientHeight })
  }
  useEffect(() => {
    const element = place.current
    if (!element) return
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    return () => sizes.disconnect()
  }, [])
  // Of a list that became shorter, the browser moves the top after this.
  const most = Math.max(0, rows.length * row_px - seen.height)
  const first = Math.max(0, Math.floor(Math.min(seen.top, most) / row_px) - spare)
  const shown = rows.slice(first, first + Math.ceil(seen.height / row_px) + 2 * spare)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <section class="rows" ref={place} tabIndex={0} aria-label={t('list.rows')} onScroll={look}>
      <ul class="rows-all" style={{ height: `${rows.length * row_px}px` }}>
        {shown.map((row, at) => (
          <li
            key={row.serial}
            class="rows-one"
            aria-setsize={rows.length}
            aria-posinset={first + at + 1}
            style={{ transform: `translateY(${(first + at) * row_px}px)` }}
          >
            <Row row={row} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Row({ row }: { row: StationRow }) {
  const { cause, group, name, online, rovers, serial, since, verdict, version } = row
  const facts = [group, version, rovers > 0 && t('list.rovers', { count: figure(rovers, 0) })].filter(Boolean)
  return (
    <a class="rows-link" href={`#/station/${encodeURIComponent(serial)}`}>
      <VerdictMark verdict={verdictNow(row)} isOffline={online === 'offline'} />
      <span class="rows-name">
        <strong>{name || serial}</strong>
        <span class="quiet">{[name && serial, ...facts].filter(Boolean).join(' · ')}</span>
      </span>
      <span class="rows-state">
        <span>
          {online === 'offline' ? t('list.offline', { verdict: word('verdict', verdict) }) : word('verdict', verdict)}
          {cause !== 'ok' && cause !== '' && `: ${causeText(cause)}`}
        </span>
        <span class="quiet">{since > 0 && t('list.for', { time: duration(Date.now() / 1_000 - since) })}</span>
      </span>
    </a>
  )
}
