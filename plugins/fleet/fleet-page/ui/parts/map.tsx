import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { figure, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import type { Size } from '../../../../../runtime/lib/page/ui/model/axis.js'
import { tilesOf } from '../../../../../runtime/lib/page/ui/model/tiles.js'
import { useSize } from '../../../../../runtime/lib/page/ui/parts/use-size.js'
import { type StationRow, verdicts } from '../fleet/api.js'
import { about, hasPart } from '../fleet/live.js'
import { isNetShown, net } from '../fleet/net.js'
import { t } from '../i18n/index.js'
import {
  clustersOf,
  fittingView,
  type Mark,
  marksOf,
  moved,
  type View,
  within,
  worldOf,
  zoomed,
  zoomInto,
} from '../model/clusters.js'
import { drawnNet, placedNet } from '../model/net.js'
import { NetLegend, NetLines, NetSwitch } from './net-lines.js'
import { VerdictMark } from './verdict-mark.js'

const step_px = 120
const drag_px = 4
/** A wheel that turns faster zooms no further. */
const wheel_ms = 120
const arrows: Readonly<Record<string, readonly [east: number, south: number]>> = {
  ArrowLeft: [-step_px, 0],
  ArrowRight: [step_px, 0],
  ArrowUp: [0, -step_px],
  ArrowDown: [0, step_px],
}

/** The stations on a map: by pointer, wheel, arrows, + and −; marks are links and buttons. @param props.pick stations at one place */
export function FleetMap({ rows, pick }: { rows: readonly StationRow[]; pick: (serials: readonly string[]) => void }) {
  const [size, place] = useSize({ width: 600, height: 420 })
  const clusters = useMemo(() => clustersOf(rows), [rows])
  const [chosen, choose] = useState<View>()
  const fitting = useMemo(() => fittingView(clusters, size), [clusters, size])
  // Until somebody moves it, the map shows all stations.
  const view = chosen ?? fitting
  const marks = useMemo(() => marksOf(clusters, view, size), [clusters, view, size])
  const found = hasPart('fleet-net') && isNetShown.value ? net.value : undefined
  const placed = useMemo(() => found && placedNet(found, rows), [found, rows])
  const drawn = useMemo(() => placed && drawnNet(placed, view, size), [placed, view, size])
  const change = (next: View) => choose(next)
  const grab = useDrag((east, south) => change(moved(view, -east, -south)))
  const wheel = useWheel(place, (steps) => change(zoomed(view, steps)))
  const keys = (event: KeyboardEvent) => {
    const [east, south] = arrows[event.key] ?? [0, 0]
    if (east !== 0 || south !== 0) change(moved(view, east, south))
    else if (event.key === '+' || event.key === '=') change(zoomed(view, 1))
    else if (event.key === '-') change(zoomed(view, -1))
    else if (event.key === '0') choose(undefined)
    else return
    event.preventDefault()
  }
  const open = (mark: Mark) => {
    const next = zoomInto(clusters, mark)
    if (next) change(next)
    else pick(within(clusters, mark))
  }
  const lost = rows.length - clusters.placed
  return (
    <div class="fleet-map">
      <div class="map-area" ref={place} onPointerDown={grab} onWheel={wheel}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the arrows move the map */}
        <section class="map-ground" aria-label={t('map.keys')} tabIndex={0} onKeyDown={keys}>
          <Ground view={view} size={size}>
            {drawn && <NetLines drawn={drawn} />}
          </Ground>
        </section>
        <ul class="map-marks">
          {marks.map((mark) => (
            <li key={mark.key} style={{ transform: `translate(${mark.x.toFixed(1)}px, ${mark.y.toFixed(1)}px)` }}>
              <MarkButton
                mark={mark}
                open={() => open(mark)}
                isContradicted={mark.station !== undefined && placed?.contradicted.has(mark.station.serial) === true}
              />
            </li>
          ))}
        </ul>
      </div>
      <div class="map-buttons">
        <button type="button" aria-label={t('map.in')} onClick={() => change(zoomed(view, 1))}>
          +
        </button>
        <button type="button" aria-label={t('map.out')} onClick={() => change(zoomed(view, -1))}>
          −
        </button>
        <button type="button" onClick={() => choose(undefined)}>
          {t('map.all')}
        </button>
        {hasPart('fleet-net') && <NetSwitch />}
      </div>
      {isNetShown.value && <NetLegend drawn={drawn} />}
      {lost > 0 && <p class="quiet map-lost">{t('map.lost', { count: lost })}</p>}
    </div>
  )
}

function MarkButton({ isContradicted, mark, open }: { mark: Mark; open: () => void; isContradicted: boolean }) {
  const { count, counts, station, verdict } = mark
  const contradicted = isContradicted ? `, ${t('net.contradicted')}` : ''
  if (station) {
    const name = station.name ? `${station.name} (${station.serial})` : station.serial
    return (
      <a
        class="map-mark"
        href={`#/station/${encodeURIComponent(station.serial)}`}
        aria-label={`${name}: ${station.online === 'offline' ? word('online', 'offline') : word('verdict', verdict)}${contradicted}`}
        title={`${name}${contradicted}`}
        draggable={false}
      >
        <VerdictMark verdict={verdict} />
      </a>
    )
  }
  const kinds = verdicts
    .filter((one) => counts[one] > 0)
    .map((one) => `${word('verdict', one)}: ${figure(counts[one], 0)}`)
  return (
    <button type="button" class="map-mark map-cluster" onClick={open}>
      <VerdictMark verdict={verdict} />
      <span class="map-count">
        {figure(count, 0)}
        <span class="hidden">{t('map.cluster')}</span>
        {counts.unfit > 0 && counts.unfit < count && <small>✕ {figure(counts.unfit, 0)}</small>}
      </span>
      <span class="hidden">{kinds.join(', ')}</span>
    </button>
  )
}

/** Tiles, or lines of latitude and longitude. */
function Ground(props: { view: View; size: Size; children?: ComponentChildren }) {
  const {
    children,
    size: { height, width },
    view,
  } = props
  const half = Math.max(width, height) / 2
  const { attribution = '', tiles = '' } = about.value ?? {}
  const world = worldOf(view)
  const perMetre = world / (2 * Math.PI * 6_378_137 * Math.cos((view.lat * Math.PI) / 180))
  const shown = tilesOf(tiles, view, half, perMetre)
  return (
    <svg viewBox={`${-width / 2} ${-height / 2} ${width} ${height}`} aria-hidden="true">
      {tiles === '' && <Lines view={view} width={width} height={height} />}
      {shown.map(({ url, x, y, size }) => (
        <image key={url} href={url} x={x} y={y} width={size} height={size} />
      ))}
      {children}
      {tiles && attribution && (
        <text class="map-provider" x={width / 2 - 6} y={height / 2 - 6}>
          {attribution}
        </text>
      )}
    </svg>
  )
}

const spacings = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30]
const between_px = 110

function Lines({ view, width, height }: { view: View; width: number; height: number }) {
  const world = worldOf(view)
  const spacing = spacings.find((one) => (one / 360) * world >= between_px) ?? 30
  const digits = spacing < 0.1 ? (spacing < 0.01 ? 3 : 2) : spacing < 1 ? 1 : 0
  const lines: { key: string; d: string; x: number; y: number; text: string }[] = []
  const [west, east] = [view.lon - (width / 2 / world) * 360, view.lon + (width / 2 / world) * 360]
  for (let lon = Math.ceil(west / spacing) * spacing; lon < east; lon += spacing) {
    const x = ((lon - view.lon) / 360) * world
    const text = `${Math.abs(lon).toFixed(digits)}° ${lon < 0 ? 'W' : 'E'}`
    lines.push({ key: `x${text}`, d: `M${x} ${-height / 2}v${height}`, x: x + 4, y: height / 2 - 6, text })
  }
  const [top, bottom] = [moved(view, 0, -height / 2).lat, moved(view, 0, height / 2).lat]
  for (let lat = Math.ceil(bottom / spacing) * spacing; lat < top; lat += spacing) {
    const radians = Math.PI / 180
    const y = ((Math.asinh(Math.tan(view.lat * radians)) - Math.asinh(Math.tan(lat * radians))) / (2 * Math.PI)) * world
    const text = `${Math.abs(lat).toFixed(digits)}° ${lat < 0 ? 'S' : 'N'}`
    lines.push({ key: `y${text}`, d: `M${-width / 2} ${y}h${width}`, x: -width / 2 + 6, y: y - 4, text })
  }
  return (
    <>
      {lines.map(({ key, d, text, x, y }) => (
        <g key={key}>
          <path class="grid" d={d} />
          <text class="map-line-name" x={x} y={y}>
            {text}
          </text>
        </g>
      ))}
    </>
  )
}

/** Calls with the pixels since the last call while a pointer is held. A click stays one. */
function useDrag(drag: (east: number, south: number) => void) {
  const now = useRef(drag)
  now.current = drag
  const end = useRef<() => void>(undefined)
  useEffect(() => () => end.current?.(), [])
  return (down: PointerEvent) => {
    if (down.button !== 0) return
    let [x, y] = [down.clientX, down.clientY]
    let isMoving = false
    const follow = (move: PointerEvent) => {
      if (move.pointerId !== down.pointerId) return
      if (!isMoving && Math.hypot(move.clientX - x, move.clientY - y) < drag_px) return
      isMoving = true
      now.current(move.clientX - x, move.clientY - y)
      ;[x, y] = [move.clientX, move.clientY]
    }
    // The click after a drag is none.
    const click = (event: MouseEvent) => {
      event.preventDefault()
      event.stopPropagation()
    }
    const finish = () => {
      end.current?.()
      if (!isMoving) return
      addEventListener('click', click, { capture: true, once: true })
      setTimeout(() => removeEventListener('click', click, { capture: true }), 0)
    }
    end.current = () => {
      removeEventListener('pointermove', follow)
      removeEventListener('pointerup', finish)
      removeEventListener('pointercancel', finish)
    }
    addEventListener('pointermove', follow)
    addEventListener('pointerup', finish)
    addEventListener('pointercancel', finish)
  }
}

/** The page scrolls as usual; with Ctrl, or once the map has the focus, the wheel zooms. */
function useWheel(place: { current: HTMLElement | null }, zoom: (steps: number) => void) {
  const last = useRef(0)
  return (event: WheelEvent) => {
    if (!event.ctrlKey && !place.current?.contains(document.activeElement)) return
    event.preventDefault()
    if (event.timeStamp - last.current < wheel_ms) return
    last.current = event.timeStamp
    zoom(event.deltaY < 0 ? 1 : -1)
  }
}
