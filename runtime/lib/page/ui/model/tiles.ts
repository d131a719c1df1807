/** Which tiles of a map lie under the drawing (Web Mercator, EPSG:3857; tile numbers as in OpenStreetMap). Pure. */

export interface Tile {
  readonly url: string
  /** Upper left corner and width, in units of the drawing, the station at 0, 0. */
  readonly x: number
  readonly y: number
  readonly size: number
}

const equator_m = 2 * Math.PI * 6_378_137
/** Deeper ones hardly any server has. */
const deepest = 19
/** Beyond them the projection has no tiles. */
const farthest_deg = 85

/**
 * @param template with `{z}`, `{x}` and `{y}`
 * @param half half the width of the drawing, in its units
 * @param scale units of the drawing for a metre
 */
export function tilesOf(
  template: string,
  { lat, lon }: { lat: number; lon: number },
  half: number,
  scale: number,
): readonly Tile[] {
  if (template === '' || Math.abs(lat) > farthest_deg) return []
  const phi = (lat * Math.PI) / 180
  // Of a tile of zoom 0 at this latitude, in units; a tile is then 128 to 256 units wide.
  const whole = equator_m * Math.cos(phi) * scale
  const z = Math.max(0, Math.min(deepest, Math.ceil(Math.log2(whole / 256))))
  const count = 2 ** z
  const size = whole / count
  const column = ((lon + 180) / 360) * count
  const row = ((1 - Math.asinh(Math.tan(phi)) / Math.PI) / 2) * count
  const reach = half / size
  const tiles: Tile[] = []
  for (let y = Math.max(0, Math.floor(row - reach)); y <= Math.min(count - 1, Math.floor(row + reach)); y++)
    for (let x = Math.floor(column - reach); x <= Math.floor(column + reach); x++) {
      const url = template
        .replaceAll('{z}', String(z))
        .replaceAll('{x}', String(((x % count) + count) % count))
        .replaceAll('{y}', String(y))
      tiles.push({ url, x: (x - column) * size, y: (y - row) * size, size })
    }
  return tiles
}
