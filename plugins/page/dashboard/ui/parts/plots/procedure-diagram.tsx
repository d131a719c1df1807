import { word } from '../../i18n/index.js'
import { box, edgesOf, layout, type ProcedureReport, way } from '../../model/gnss/procedure.js'

const room = 8

/** The states and the ways between them; the present one is filled and has a thick border. */
export function ProcedureDiagram({ report, label }: { report: ProcedureReport; label: string }) {
  const { boxes, width, height } = layout(report.states.map(({ name }) => name))
  const boxOf = (name: string) => boxes.find((one) => one.name === name)
  return (
    <svg
      class="diagram"
      viewBox={`${-room} ${-room} ${width + 2 * room} ${height + 2 * room}`}
      role="img"
      aria-label={label}
    >
      <defs>
        <marker
          id="tip"
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="9"
          markerHeight="9"
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path d="M0 0L8 4L0 8Z" />
        </marker>
      </defs>
      {edgesOf(report.table).map(({ from, to, events }) => {
        const [start, end] = [boxOf(from), boxOf(to)]
        if (!start || !end) return null
        return (
          <path
            key={`${from} ${to}`}
            class={from === report.state ? 'edge out' : 'edge'}
            marker-end="url(#tip)"
            d={way(start, end)}
          >
            <title>{events.join(', ')}</title>
          </path>
        )
      })}
      {boxes.map(({ name, x, y }) => (
        <g key={name} class={name === report.state ? 'state present' : 'state'}>
          <rect x={x} y={y} width={box.width} height={box.height} rx="6" />
          <text x={x + box.width / 2} y={y + box.height / 2 + 5}>
            {word('procedure.name', name)}
          </text>
        </g>
      ))}
    </svg>
  )
}
