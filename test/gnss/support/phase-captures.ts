/** Epochs of observations with the sky above them, from captures. */
import { decode as decodeUbx } from '../../../plugins/receivers/gnss-zed/ubx/layout.js'
import { navSat } from '../../../plugins/receivers/gnss-zed/ubx/layouts-nav.js'
import { type Sky, skyOf } from '../../../plugins/reference/integrity/phase/sky.js'
import { Framer, knownLeap_s, type MsmEpoch, MsmEpochs, referencePoint } from '../../../runtime/lib/gnss/index.js'
import type { Ecef } from '../../../schemas/services.js'
import { capture } from '../../harness/captures.js'
import { BroadcastOrbits, GsvSky } from './broadcast-orbits.js'

/** By u-blox gnssId (interface description, "GNSS identifiers"). */
const gnssNames = ['gps', 'sbas', 'galileo', 'beidou', 'imes', 'qzss', 'glonass', 'navic']

export interface Observed {
  readonly epoch: MsmEpoch
  readonly sky: Sky | undefined
}

/** The ephemerides and the reference point of a capture. */
export function orbitsOf(name: string): { orbits: BroadcastOrbits; arp: Ecef | undefined } {
  const orbits = new BroadcastOrbits(knownLeap_s)
  let arp: Ecef | undefined
  const framer = new Framer({
    onFrame: ({ kind, bytes }) => {
      if (kind !== 'rtcm') return
      orbits.push(bytes)
      arp ??= referencePoint(bytes)?.arp
    },
  })
  framer.push(capture(name) ?? new Uint8Array(0), 0)
  framer.flush()
  return { orbits, arp }
}

/** Decodes a capture; its sky is that of NAV-SAT, else of GSV, else of ephemerides, else unknown. */
export function observedOf(name: string): Observed[] {
  let observed = decoded.get(name)
  if (!observed) {
    observed = decode(name)
    decoded.set(name, observed)
  }
  return observed
}
const decoded = new Map<string, Observed[]>()

function decode(name: string): Observed[] {
  const bytes = capture(name)
  if (!bytes) return []
  const epochs: MsmEpoch[] = []
  const collector = new MsmEpochs()
  const orbits = new BroadcastOrbits(knownLeap_s)
  const gsv = new GsvSky()
  let satellites: Sky | undefined
  let arp: ReturnType<typeof referencePoint>
  const framer = new Framer({
    onFrame: (frame) => {
      if (frame.kind === 'rtcm') {
        orbits.push(frame.bytes)
        arp ??= referencePoint(frame.bytes)
        epochs.push(...collector.push(frame.bytes))
      } else if (frame.kind === 'nmea') {
        gsv.push(Buffer.from(frame.bytes).toString('latin1'))
      } else if (frame.kind === 'ubx' && navSat.cls === frame.cls && navSat.id === frame.id) {
        const blocks = decodeUbx(navSat, frame.bytes.subarray(6, -2))?.blocks ?? []
        satellites = skyOf(
          blocks.map(({ gnssId, svId, azim_deg, elev_deg }) => ({
            constellation: gnssNames[gnssId] ?? '',
            satellite: svId,
            azimuth_deg: azim_deg,
            elevation_deg: elev_deg,
          })),
        )
      }
    },
  })
  framer.push(bytes, 0)
  framer.flush()
  const reference = arp
  const skies = new Map<number, Sky>()
  const skyAt = (time_ms: number): Sky | undefined => {
    if (satellites) return satellites
    if (gsv.size > 0) return gsv.sky
    if (!reference || orbits.size === 0) return undefined
    // Directions change by a tenth of a degree in this time.
    const block = Math.floor(time_ms / 20_000)
    const known = skies.get(block) ?? orbits.sky(reference.arp, block * 20)
    skies.set(block, known)
    return known
  }
  return epochs.map((epoch) => ({ epoch, sky: skyAt(epoch.time_ms) }))
}
