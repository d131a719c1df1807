import { tilesOf } from '../../../../../runtime/lib/page/ui/model/tiles.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Empty } from '../../../../../runtime/lib/page/ui/parts/empty.js'
import { t } from '../i18n/index.js'
import { lengthText } from '../i18n/lengths.js'
import { type HistoryRow, referenceOf } from '../model/gnss/positions.js'
import { csvOf, emptySide, geoJsonOf, mapOf, namedOf, referenceMapOf, roundUp, type StationMap } from '../model/map.js'
import { nameOf } from '../model/verdict.js'
import { document$, hello } from '../station/live.js'

const half = 200
/** The outer ring leaves room for names. */
const ring = 165

/** The station and its rovers, drawn to scale: works without the internet. */
export function MapCard() {
  const map = mapOf(document$.value)
  const name = nameOf(document$.value, hello.value?.serial ?? '')
  return (
    <Card title={t('map.title')}>
      {map ? <Drawing map={map} name={name} {...tilesNow()} /> : <Empty drawing="map">{t('map.none')}</Empty>}
      {map && <Downloads map={map} name={name} file="rtk-base" />}
    </Card>
  )
}

/** The earlier references around the present one; nothing while there is none. @param rows newest first */
export function ReferenceMap({ rows }: { rows: readonly HistoryRow[] }) {
  const map = referenceMapOf(rows, referenceOf(document$.value), ({ event }) => t('positions.used', { id: event.id }))
  if (!map) return null
  const name = nameOf(document$.value, hello.value?.serial ?? '')
  return (
    <>
      <Drawing map={map} name={name} {...tilesNow()} />
      <Downloads map={map} name={name} file="rtk-base-references" />
    </>
  )
}

function Downloads({ map, name, file }: { map: StationMap; name: string; file: string }) {
  return (
    <p>
      <a class="target" download={`${file}.csv`} href={fileOf('text/csv', csvOf(map, name))}>
        CSV
      </a>{' '}
      ·{' '}
      <a class="target" download={`${file}.geojson`} href={fileOf('application/geo+json', geoJsonOf(map, name))}>
        GeoJSON
      </a>
    </p>
  )
}

const tilesNow = () => ({ tiles: hello.value?.tiles ?? '', attribution: hello.value?.attribution ?? '' })

const fileOf = (type: string, text: string) => `data:${type};charset=utf-8,${encodeURIComponent(text)}`

/** A place beside the one of now: north up, to scale. */
export function PlaceDrawing({ from: { east, north } }: { from: { east: number; north: number } }) {
  const radius_m = roundUp(Math.max(Math.hypot(east, north) * 1.05, 0.01))
  const point = {
    key: 'place',
    name: t('map.entered'),
    kind: 'history',
    east,
    north,
    lat: 0,
    lon: 0,
    isFixed: false,
  } as const
  return <Drawing map={{ lat: 0, lon: 0, points: [point], radius_m }} name={t('map.now')} />
}

interface DrawingProps {
  readonly map: StationMap
  readonly name: string
  readonly tiles?: string
  readonly attribution?: string
}

function Drawing({ map, name, tiles = '', attribution = '' }: DrawingProps) {
  const { lat, lon, points, radius_m } = map
  const scale = ring / radius_m
  const named = namedOf(points, scale)
  const side = emptySide(points)
  const beside = (radius: number) => (side === 1 ? radius - 4 : 14 - radius)
  const words = points.map((one) => `${one.name}: ${lengthText(Math.hypot(one.east, one.north))}`)
  return (
    <svg class="map" viewBox={`${-half} ${-half} ${2 * half} ${2 * half}`} role="img">
      <title>{[name, ...words].join(', ')}</title>
      {tilesOf(tiles, { lat, lon }, half, scale).map(({ url, x, y, size }) => (
        <image key={url} href={url} x={x} y={y} width={size} height={size} />
      ))}
      {tiles && attribution && (
        <text class="map-provider" x={half - 4} y={half - 6}>
          {attribution}
        </text>
      )}
      <circle class="grid" r={ring} />
      <circle class="grid" r={ring / 2} />
      <path class="grid" d={`M0 ${-ring}V${ring}M${-ring} 0H${ring}`} />
      <text class="map-north" x={0} y={-ring - 10}>
        N
      </text>
      <text class="map-ring" x={4} y={beside(ring)}>
        {lengthText(radius_m)}
      </text>
      <text class="map-ring" x={4} y={beside(ring / 2)}>
        {lengthText(radius_m / 2)}
      </text>
      {points.map(({ key, name: who, east, north, isFixed }) => (
        <g key={key} transform={`translate(${east * scale} ${-north * scale})`}>
          <path class="map-line" d={`M0 0L${-east * scale} ${north * scale}`} />
          <circle class={isFixed ? 'map-fixed' : 'map-rover'} r={8} />
          {named.has(key) && (
            <text
              class={east * scale > half / 2 ? 'map-name-left' : 'map-name'}
              x={east * scale > half / 2 ? -12 : 12}
              y={5}
            >
              {who.length > 24 ? `${who.slice(0, 23)}…` : who}
            </text>
          )}
        </g>
      ))}
      <path class="map-base" d="M0 -12L11 9H-11Z" />
    </svg>
  )
}
