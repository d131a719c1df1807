/** Possible causes of a wrong announced position, for people: a cause and values to translate by, and an English text. */
import { distance } from '../../gnss/index.js'
import { type CauseEvidence, isSignificant, lengthText, listed, type NetCause } from './cause.js'
import { frameCause } from './frame-cause.js'

/** Positions by ranges are right to this, and farther apart than this they differ for certain, metres. */
const ranged = { same_m: 10, far_m: 25 }
const height = { least_m: 0.03, same_m: 0.01, surely_m: 0.02 }
/** This accuracy, or a better one, promises a position that agrees with the neighbours, metres. */
const coarse = { least_m: 0.03, sigmas: 3 }
/** An offset is not stated to less. */
const least_m = 0.01

/** Probable causes of an offset, the most certain first; never empty. */
export function causesOf(evidence: CauseEvidence): NetCause[] {
  const swapped = swappedCause(evidence)
  if (swapped) return [swapped]
  const far = farCause(evidence)
  if (far) return [far]
  const survey = surveyCause(evidence)
  if (survey) return [survey]
  const found = [frameCause(evidence), heightCause(evidence)].flatMap((cause) => cause ?? [])
  return found.length > 0 ? found : [unexplained(evidence)]
}

function swappedCause({ id, arp, byRanges, others = [] }: CauseEvidence): NetCause | undefined {
  if (!byRanges) return undefined
  const other = others.find(
    (base) =>
      base.byRanges !== undefined &&
      distance(base.arp, arp) > ranged.far_m &&
      distance(byRanges, base.arp) <= ranged.same_m &&
      distance(base.byRanges, arp) <= ranged.same_m,
  )
  if (!other) return undefined
  return {
    kind: 'swapped',
    values: { one: id, other: other.id },
    text: `The positions of ${id} and ${other.id} are swapped: each announces the other's.`,
  }
}

function farCause({ arp, byRanges }: CauseEvidence): NetCause | undefined {
  const away_m = byRanges ? distance(arp, byRanges) : 0
  if (!(away_m > ranged.far_m)) return undefined
  const text = `The station's own ranges place it ${lengthText(away_m)} away from the announced position.`
  return { kind: 'far', values: { away_m: rounded(away_m) }, text }
}

/** A position that is stated to be so inaccurate is not wrong if it is off by as much. */
function surveyCause({ offset, accuracy_m = 0 }: CauseEvidence): NetCause | undefined {
  const { east, north, up } = offset
  const isWithin = accuracy_m > coarse.least_m && Math.hypot(east, north, up) <= coarse.sigmas * accuracy_m
  if (!isWithin) return undefined
  const accuracy = `${accuracy_m.toFixed(accuracy_m < 1 ? 2 : 1)} m`
  const text = `The position is as accurate as its survey says (${accuracy}). Survey it with corrections or enter better coordinates if that is not enough.`
  return { kind: 'survey', values: { acc_m: accuracy_m }, text }
}

/**
 * Points at different heights of one antenna are often confused. A marker lies below the antenna reference point, so
 * that the announced height is too small.
 */
function heightCause({ offset, sigma, antennaHeight_m, phaseCentre_m }: CauseEvidence): NetCause | undefined {
  const { east, north, up } = offset
  const isLevel = !isSignificant(east, sigma.east, height.least_m) && !isSignificant(north, sigma.north, height.least_m)
  if (!isLevel || !isSignificant(up, sigma.up, height.least_m)) return undefined
  const difference = `The announced height is ${lengthText(Math.abs(up))} ${up > 0 ? 'less' : 'more'} than the neighbours say`
  const is = (expected_m: number | undefined) =>
    expected_m !== undefined &&
    expected_m !== 0 &&
    sigma.up <= height.surely_m &&
    Math.abs(up - expected_m) <= height.same_m
  const of = (point: string, isSure: boolean, text: string): NetCause => ({
    kind: 'height',
    values: { up_m: rounded(up), point, isSure },
    text: `${difference}${text}`,
  })
  if (is(antennaHeight_m)) return of('marker', true, ': it is that of the marker instead of the antenna.')
  if (is(antennaHeight_m && -antennaHeight_m)) return of('twice', true, ': the height of the antenna was added twice.')
  if (is(phaseCentre_m && -phaseCentre_m)) {
    return of('phase-centre', true, ': it is that of the phase centre instead of the antenna reference point.')
  }
  return up > 0
    ? of('marker', false, ": is it the marker's instead of the antenna's?")
    : of('phase-centre', false, ": is it the phase centre's, or was the height of the antenna added twice?")
}

function unexplained({ offset, sigma }: CauseEvidence): NetCause {
  const { east, north, up } = offset
  // The announced position is displaced the other way.
  const parts = [
    partText(-east, sigma.east, 'too far east', 'too far west'),
    partText(-north, sigma.north, 'too far north', 'too far south'),
    partText(-up, sigma.up, 'too high', 'too low'),
  ].flatMap((part) => part ?? [])
  const values = { east_m: rounded(east), north_m: rounded(north), up_m: rounded(up) }
  const wrong = parts.length > 0 ? listed(parts) : `wrong by ${lengthText(Math.hypot(east, north, up))}`
  return { kind: 'unexplained', values, text: `The announced position is ${wrong}.` }
}

const partText = (value: number, sigma: number, more: string, less: string) =>
  isSignificant(value, sigma, least_m) ? `${lengthText(Math.abs(value))} ${value > 0 ? more : less}` : undefined

const rounded = (metres: number) => Math.round(metres * 1_000) / 1_000 + 0
