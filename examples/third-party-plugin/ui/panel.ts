/** The panel of the epoch meter: the totals as they come, the last minute as bars. It runs in the browser. */
import type { PanelStation, ShowPanel } from 'rtk-base/panel'
import './panel.css'

interface Epoch {
  satellites: number
  complete: boolean
}

const again_ms = 5_000
/** Of a bar, and where the scale ends. */
const width = 10
const mostSatellites = 60

export const show: ShowPanel = (element, station) => {
  const totals = document.createElement('p')
  const bars = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  bars.setAttribute('class', 'epoch-meter')
  bars.setAttribute('viewBox', `0 0 ${60 * width} ${mostSatellites}`)
  bars.setAttribute('preserveAspectRatio', 'none')
  bars.setAttribute('role', 'img')
  element.append(totals, bars, resetButton(station))

  station.onDocument((information) => {
    const { epochs = 0, poor = 0 } = (information['epoch-meter'] ?? {}) as { epochs?: number; poor?: number }
    totals.textContent = `${epochs} epochs went out, ${poor} of them with too few satellites.`
  })
  const draw = async () => {
    const epochs = (await station.get('/epoch-meter')) as Epoch[]
    const newest = epochs.at(-1)
    bars.setAttribute('aria-label', `Satellites of the last ${epochs.length} epochs, now ${newest?.satellites ?? 0}`)
    bars.replaceChildren(...epochs.map((epoch, n) => bar(epoch, n)))
  }
  // While the station is unreachable, the bars do not change.
  const look = () => draw().catch(() => {})
  void look()
  const timer = setInterval(look, again_ms)
  return () => clearInterval(timer)
}

function bar({ satellites, complete }: Epoch, n: number): SVGElement {
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  const height = Math.min(satellites, mostSatellites)
  rect.setAttribute('class', complete ? '' : 'incomplete')
  for (const [name, value] of Object.entries({ x: n * width, y: mostSatellites - height, width: width - 2, height }))
    rect.setAttribute(name, String(value))
  return rect
}

function resetButton(station: PanelStation): HTMLElement {
  const row = document.createElement('p')
  const button = document.createElement('button')
  const answer = document.createElement('span')
  button.type = 'button'
  button.textContent = 'Start counting anew'
  answer.setAttribute('role', 'status')
  button.addEventListener('click', () => {
    station.act('epoch-meter-reset').then(
      ({ text }) => answer.replaceChildren(` ${text}`),
      (error: Error) => answer.replaceChildren(` ${error.message}`),
    )
  })
  row.append(button, answer)
  return row
}
