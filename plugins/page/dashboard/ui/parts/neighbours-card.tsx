/** The comparison with neighbouring bases: the result, each neighbour, and how the station moved relative to it. */
import { Card, FigureList, Tone, type ToneName } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { Plot } from '../../../../../runtime/lib/page/ui/parts/plot.js'
import { type Json, listAt, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { t, word } from '../i18n/index.js'
import { enuText, lengthText } from '../i18n/lengths.js'
import { sentence } from '../i18n/plugin-texts.js'
import { api } from '../station/api.js'

interface Enu {
  readonly east: number
  readonly north: number
  readonly up: number
}
interface Neighbour extends Enu {
  readonly name: string
  readonly link: string
  readonly dist: number
  readonly status: string
  readonly acc: number
  readonly text: string
  readonly moved: string
}
interface Curve {
  readonly name: string
  readonly days: readonly { readonly t: number; readonly offset: Enu }[]
}

const tones: Readonly<Record<string, ToneName>> = { agrees: 'good', contradicts: 'broken' }
const load = async () => (await api.get<{ curves: Curve[] }>('/neighbours/curve')).curves

/** Nothing on a station without neighbours. */
export function NeighboursCard({ document }: { document: Json }) {
  const list = listAt<Neighbour>(document, 'gnss.neighbours.list')
  return list.length === 0 ? null : <Compared document={document} list={list} />
}

function Compared({ document, list }: { document: Json; list: readonly Neighbour[] }) {
  const { value: curves = [] } = useLoaded(load)
  const state = textAt(document, 'gnss.neighbours.state')
  const isMeasured = ({ status }: Neighbour) => status !== 'none'
  return (
    <Card title={t('neighbours.title')}>
      <p>
        <Tone tone={tones[state] ?? 'waiting'}>{word('neighbours.state', state)}</Tone>
      </p>
      <p class="quiet">{sentence(textAt(document, 'gnss.neighbours.text'))}</p>
      <DataTable
        label={t('neighbours.title')}
        rows={list}
        keyOf={({ name }) => name}
        columns={[
          { name: t('neighbours.name'), cell: ({ name }) => name, isHead: true },
          { name: t('neighbours.distance'), cell: ({ dist }) => dist > 0 && lengthText(dist), isNumber: true },
          { name: t('neighbours.offset'), cell: (one) => isMeasured(one) && enuText(one) },
          { name: t('positions.acc'), cell: (one) => isMeasured(one) && lengthText(one.acc), isNumber: true },
        ]}
      />
      <FigureList
        rows={list.map(({ moved, name, text }) => [name, [text, moved].filter(Boolean).map(sentence).join(' ')])}
      />
      {curves.map((curve) => (
        <Movement key={curve.name} curve={curve} />
      ))}
    </Card>
  )
}

/** From two days on: millimetres. */
function Movement({ curve: { days, name } }: { curve: Curve }) {
  if (days.length < 2) return null
  const of = (part: keyof Enu, colour: string) => ({
    ...{ label: t(`ppp.${part}`), unit: 'mm', digits: 1, colour },
    values: days.map(({ offset }) => offset[part] * 1000),
  })
  return (
    <Plot
      title={t('neighbours.curve', { name })}
      times={days.map((day) => day.t)}
      curves={[of('east', 'main'), of('north', 'gps'), of('up', 'galileo')]}
      kind="clock"
    />
  )
}
