/** Whether an offset is the difference between two reference frames or epochs. */
import { ecefToGeodetic, enu, type FrameName, frameNames, type PlateName, transformed } from '../../gnss/index.js'
import { type CauseEvidence, isSignificant, lengthText, listed, type NetCause } from './cause.js'

/** Smaller offsets have too many possible causes. */
const least_m = 0.05
/** A frame fits if each axis fits within this or three standard deviations. */
const same_m = 0.03

/** Frames of a region: its plate, and where their coordinates are used (degrees: south, north, west, east). */
const regions: Partial<Record<FrameName, { plate: PlateName; box: readonly [number, number, number, number] }>> = {
  ETRF2020: { plate: 'EURA', box: [34, 72, -25, 45] },
  ETRF2014: { plate: 'EURA', box: [34, 72, -25, 45] },
  ETRF2000: { plate: 'EURA', box: [34, 72, -25, 45] },
  GDA2020: { plate: 'AUST', box: [-48, -8, 105, 160] },
  'NAD83(2011)': { plate: 'NOAM', box: [14, 72, -170, -60] },
  'NAD83(CSRS)': { plate: 'NOAM', box: [41, 84, -142, -52] },
}

/** Epochs in which coordinates of these frames are usually given, besides the present. */
const customary: Readonly<Record<FrameName, readonly number[]>> = {
  ITRF2020: [2015, 2020],
  ITRF2014: [2010, 2020],
  ETRF2020: [2015],
  ETRF2014: [2010],
  ETRF2000: [2010],
  GDA2020: [2020],
  'NAD83(2011)': [2010],
  'NAD83(CSRS)': [2010],
}

interface Given {
  readonly frame: FrameName
  readonly epoch: number
}

interface Fit {
  readonly own: Given
  readonly theirs: Given
  readonly away_m: number
}

/** @returns undefined: no difference of frames fits, or the offset is too small to tell */
export function frameCause(evidence: CauseEvidence): NetCause | undefined {
  const { offset } = evidence
  const size_m = Math.hypot(offset.east, offset.north, offset.up)
  if (!isSignificant(size_m, Math.hypot(...Object.values(evidence.sigma)), least_m)) return undefined
  const fits = fitsOf(evidence).sort((p, q) => p.away_m - q.away_m)
  const [best] = fits
  if (!best) return undefined
  const { own, theirs } = best
  const others = [...new Set(fits.map((fit) => nameOf(fit.own)))].filter((name) => name !== nameOf(own))
  const more = others.length > 0 ? ` It may also be given in ${listed(others, 'or')}.` : ''
  return {
    kind: 'frame',
    values: {
      ...{ size_m: Math.round(size_m * 1_000) / 1_000, others: others.join(', ') },
      ...{ frame: own.frame, epoch: own.epoch, neighbours: theirs.frame, neighboursEpoch: theirs.epoch },
    },
    text:
      `The offset of ${lengthText(size_m)} is the difference between ${nameOf(own)} and ${nameOf(theirs)}: ` +
      `the position is probably given in ${nameOf(own)}.${more}`,
  }
}

const nameOf = ({ frame, epoch }: Given) => `${frame} at ${epoch.toFixed(1)}`

function fitsOf(evidence: CauseEvidence): Fit[] {
  const { arp, offset, sigma, datum = {}, neighbours = {} } = evidence
  const frames = frameNames.filter((frame) => frame === datum.frame || isUsedAt(evidence, frame))
  const owns = frames.flatMap((frame) => givens(evidence, frame, frame === datum.frame ? datum.epoch : undefined))
  const theirFrames = neighbours.frame ? [neighbours.frame] : frames
  const fits: Fit[] = []
  for (const own of owns) {
    for (const theirs of theirFrames.flatMap((frame) => givens(evidence, frame, neighbours.epoch))) {
      const plate = datum.plate ?? regions[own.frame]?.plate ?? regions[theirs.frame]?.plate
      // Without a plate, a point has the same place at each epoch: nothing is known about the difference.
      if (!plate && own.epoch !== theirs.epoch) continue
      const predicted = enu(arp, transformed({ position: arp, ...own }, theirs, plate).position)
      if (Math.hypot(predicted.east, predicted.north, predicted.up) < least_m) continue
      const names = ['east', 'north', 'up'] as const
      const apart = names.map((name) => predicted[name] - offset[name])
      if (names.every((name, axis) => Math.abs(apart[axis] ?? 0) <= Math.max(same_m, 3 * sigma[name]))) {
        fits.push({ own, theirs, away_m: Math.hypot(...apart) })
      }
    }
  }
  return fits
}

function givens({ now }: CauseEvidence, frame: FrameName, epoch: number | undefined): Given[] {
  if (epoch !== undefined) return [{ frame, epoch }]
  // Coordinates in a frame that moves with the plate hardly depend on the epoch.
  const epochs = regions[frame] ? customary[frame] : [now, ...customary[frame]]
  return epochs.map((each) => ({ frame, epoch: each }))
}

function isUsedAt({ arp, datum }: CauseEvidence, frame: FrameName): boolean {
  const region = regions[frame]
  if (!region) return true
  if (datum?.plate !== undefined && datum.plate !== region.plate) return false
  const { lat, lon } = ecefToGeodetic(arp)
  const [south, north, west, east] = region.box
  return lat >= south && lat <= north && lon >= west && lon <= east
}
