/** The offset of a station by its neighbours, day by day. */
import { word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Plot } from '../../../../../runtime/lib/page/ui/parts/plot.js'
import { axes, type Day, type Judgement } from '../fleet/net-api.js'
import { t } from '../i18n/index.js'
import { offsetCurves } from '../model/offsets.js'

const colours = { east: 'main', north: 'glonass', up: 'galileo' } as const

/** @param props.days at least two */
export function NetCurve({ days, judgement }: { days: readonly Day[]; judgement: Judgement | null }) {
  const { sigmas, times, values } = offsetCurves(days)
  return (
    <Plot
      title={t('net.curve')}
      kind="days"
      times={times}
      curves={axes.map((axis) => ({
        label: t(`net.${axis}`),
        unit: 'mm',
        digits: 1,
        colour: colours[axis],
        values: values[axis],
        sigmas: sigmas[axis],
      }))}
      notes={judgement && judgement.since > 0 ? [{ t: judgement.since, text: word('net.state', judgement.state) }] : []}
      // Noise of a millimetre does not look like a movement.
      least={-5}
      most={5}
    />
  )
}
