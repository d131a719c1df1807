/** The sky above the antenna: where the satellites are and how strong, or how strong they were by direction over a day. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { figure, t } from '../../i18n/index.js'
import { cellPath, dotRadius, letterOf, nameOf, project, shadeOf, systemOf } from '../../model/gnss/sky.js'
import type { SkySatellite } from '../../station/live.js'

const radius = 150
const room = 172
const cell_deg = 10

/** Rings at 0°, 30° and 60°, north up. */
function Rings({ children }: { children: ComponentChildren }) {
  return (
    <>
      <circle class="ground" r={radius} />
      {children}
      <g class="rings">
        {[0, 30, 60].map((el) => (
          <circle key={el} r={(radius * (90 - el)) / 90} />
        ))}
        <path d={`M${-radius} 0H${radius}M0 ${-radius}V${radius}`} />
      </g>
      <g class="compass">
        <text y={-radius - 6}>N</text>
        <text x={radius + 10} y={5}>
          {t('sky.east')}
        </text>
        <text y={radius + 17}>S</text>
        <text x={-radius - 10} y={5}>
          W
        </text>
        {[30, 60].map((el) => (
          <text key={el} class="ring-name" x={4} y={-(radius * (90 - el)) / 90 + 12}>
            {el}°
          </text>
        ))}
      </g>
    </>
  )
}

type Placed = SkySatellite & { az: number; el: number }
const isPlaced = (satellite: SkySatellite): satellite is Placed =>
  satellite.az !== null && satellite.el !== null && satellite.el >= 0

/** At a glance: the page of the sky has the readings. */
export function SkyGlance({ satellites }: { satellites: readonly SkySatellite[] }) {
  return (
    <svg class="square" viewBox={`${-room} ${-room} ${2 * room} ${2 * room}`} aria-hidden="true">
      <Rings>{null}</Rings>
      {satellites.filter(isPlaced).map((satellite) => (
        <Dot key={nameOf(satellite)} satellite={satellite} isChosen={false} />
      ))}
    </svg>
  )
}

/** A tap takes the nearest satellite, arrow keys go from one to the next. */
export function SkyPlot({ satellites }: { satellites: readonly SkySatellite[] }) {
  const [chosen, setChosen] = useState('')
  const placed = satellites.filter(isPlaced)
  const found = placed.find((satellite) => nameOf(satellite) === chosen)
  const step = (by: number) => {
    const at = placed.findIndex((satellite) => nameOf(satellite) === chosen)
    const next = placed[(at + by + placed.length) % placed.length]
    if (next) setChosen(nameOf(next))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    step(by)
  }
  const onPointerDown = (event: PointerEvent) => {
    const bounds = (event.currentTarget as Element).getBoundingClientRect()
    const x = ((event.clientX - bounds.left) / bounds.width) * 2 * room - room
    const y = ((event.clientY - bounds.top) / bounds.height) * 2 * room - room
    const away = (satellite: Placed) => {
      const at = project(satellite.az, satellite.el, radius)
      return Math.hypot(at.x - x, at.y - y)
    }
    const nearest = [...placed].sort((a, b) => away(a) - away(b))[0]
    setChosen(nearest && away(nearest) < 30 ? nameOf(nearest) : '')
  }
  return (
    <figure class="plot">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
      <div
        class="sky"
        role="group"
        aria-label={t('sky.plotText', { count: placed.length })}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys choose a satellite, as a tap does
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <svg
          class="square"
          viewBox={`${-room} ${-room} ${2 * room} ${2 * room}`}
          aria-hidden="true"
          onPointerDown={onPointerDown}
        >
          <Rings>{null}</Rings>
          {placed.map((satellite) => (
            <Dot key={nameOf(satellite)} satellite={satellite} isChosen={satellite === found} />
          ))}
        </svg>
      </div>
      <p role="status" class="reading">
        {found ? readingOf(found) : <span class="quiet">{t('sky.choose')}</span>}
      </p>
    </figure>
  )
}

function Dot({ satellite, isChosen }: { satellite: Placed; isChosen: boolean }) {
  const { sys, az, el, cno, used } = satellite
  const { x, y } = project(az, el, radius)
  return (
    <g class={`dot ${used ? 'used' : 'seen'} ${systemOf(sys)}${isChosen ? ' chosen' : ''}`}>
      <circle cx={x.toFixed(1)} cy={y.toFixed(1)} r={dotRadius(cno).toFixed(1)} />
      <text x={x.toFixed(1)} y={(y + 4).toFixed(1)}>
        {letterOf(sys)}
      </text>
    </g>
  )
}

const readingOf = (satellite: Placed) =>
  [
    nameOf(satellite),
    t('sky.direction', { az: satellite.az, el: satellite.el }),
    ...satellite.signals.map(({ name, cno }) => `${name} ${figure(cno, 0, 'dB-Hz')}`),
    t(satellite.used ? 'sky.used' : 'sky.seen'),
  ].join(' · ')

export interface SkyCell {
  az: number
  el: number
  cno: number
}

export function ShadingPlot({ cells }: { cells: readonly SkyCell[] }) {
  const dark = cells.filter(({ cno }) => shadeOf(cno) <= 1).length
  return (
    <figure class="plot">
      <svg
        class="square"
        viewBox={`${-room} ${-room} ${2 * room} ${2 * room}`}
        role="img"
        aria-label={t('sky.shadingText', { cells: cells.length, dark })}
      >
        <Rings>
          {cells.map(({ az, el, cno }) => (
            <path key={`${az} ${el}`} class={`shade-${shadeOf(cno)}`} d={cellPath(az, el, cell_deg, radius)}>
              <title>{`${az}–${az + cell_deg}° / ${el}–${el + cell_deg}°: ${figure(cno, 1, 'dB-Hz')}`}</title>
            </path>
          ))}
        </Rings>
      </svg>
      <ul class="legend">
        {['< 10', '10–25', '25–35', '35–42', '> 42'].map((range, shade) => (
          <li key={range}>
            <svg class="swatch" viewBox="0 0 28 16" aria-hidden="true">
              <rect class={`shade-${shade}`} width="28" height="16" />
            </svg>
            {range}
          </li>
        ))}
        <li class="quiet">dB-Hz</li>
      </ul>
    </figure>
  )
}
