/** The parts of the `gnss` block that the receiver fills. Shapes and units: schemas/info/gnss.ts. */
import { formatTm } from 'rtk-base/gnss'
import type { ZedReceiver } from './zed.js'

type Status = 'offline' | 'stalled' | 'identify' | 'acquire' | 'fixed'

/** Where the procedure stands, by evidence alone: the first line that is true. */
export function statusOf(zed: ZedReceiver): Status {
  if (zed.link !== 'up') return zed.link
  const base = zed.listening || zed.mode === 'fixed'
  if (base && zed.rtcmFlows) return 'fixed'
  if (!zed.listening && !zed.identified) return 'identify'
  return 'acquire'
}

export function zedBlock({ identity }: ZedReceiver) {
  const { module, firmware, hardware, software, serial } = identity
  return { module, vfirmware: firmware, vhardware: hardware, vsoftware: software, serial }
}

export function stateBlock(zed: ZedReceiver) {
  const { fix, satellites, startTimes } = zed
  const time = Math.floor(zed.utc_s())
  return {
    time,
    tm: formatTm(time),
    status: statusOf(zed),
    gps_fix: fix?.fix ?? 'none',
    corrected: fix?.corrected ?? false,
    uptime: startTimes.uptime_s,
    time_first_fix: startTimes.timeToFirstFix_s,
    satvis: fix ? satellites.visible : 0,
    satuse: fix ? satellites.used || fix.satellitesUsed : 0,
    want_corr: 0,
    antenna: zed.antenna.report,
    recvrtcm: { elapsed: 0, age: 0, count: 0, packets: 0, remote: '', dist: 0 },
  }
}

export function posBlock(zed: ZedReceiver) {
  const { place } = zed
  if (!place) {
    return { lat: 0, lon: 0, alt: 0, x: 0, y: 0, z: 0, acc: 0, delta: 0, 'geoidal-seperation': 0, t: 0, tm: '' }
  }
  // `t` is what tells that there is a position, so a receiver without a clock borrows the device's.
  const age_s = (zed.now_ms() - place.arrival_ms) / 1000
  const t = Math.round(place.t > 0 ? place.t : Math.max(0, zed.utc_s() - age_s))
  return {
    lat: place.lat,
    lon: place.lon,
    alt: tenthMm(place.alt),
    ...place.position,
    acc: Number.isFinite(place.acc_m) ? place.acc_m : 0,
    delta: 0,
    'geoidal-seperation': place.geoidSeparation_m,
    t,
    tm: formatTm(t),
  }
}

const tenthMm = (metres: number) => Math.round(metres * 1e4) / 1e4
