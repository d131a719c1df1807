/** Orbits of GLONASS: the equations of motion in the rotating frame PZ-90.11 (ICD 5.1, appendix 3.1.2), integrated. */
import type { GlonassEphemeris } from './ephemeris.js'
import type { SatelliteState } from './satellite.js'

/** ICD 5.1, table 3.2: gravity (m³/s²), equatorial radius, second zonal harmonic, rotation. */
const mu = 3.9860044e14
const radius_m = 6_378_136
const j2 = 1.0826257e-3
const rotation_radps = 7.292115e-5

const longestStep_s = 60

/** x, y, z (m) and their rates (m/s). */
type Motion = readonly [x: number, y: number, z: number, vx: number, vy: number, vz: number]

/**
 * Runge–Kutta of the fourth order in steps of at most 60 s, which is good to a millimetre over the 30 min of an
 * ephemeris.
 * @param at_s `gpsSeconds` within hours of `toe_s`
 */
export function glonassState(g: GlonassEphemeris, at_s: number): SatelliteState {
  const { position_m: p, velocity_mps: v, acceleration_mps2: pull } = g
  const duration_s = at_s - g.toe_s
  const steps = Math.ceil(Math.abs(duration_s) / longestStep_s)
  const h = duration_s / steps
  let motion: Motion = [p.x, p.y, p.z, v.x, v.y, v.z]
  for (let step = 0; step < steps; step++) {
    const k1 = rates(motion, pull)
    const k2 = rates(along(motion, k1, h / 2), pull)
    const k3 = rates(along(motion, k2, h / 2), pull)
    const k4 = rates(along(motion, k3, h), pull)
    motion = along(motion, k1, h / 6)
    motion = along(motion, k2, h / 3)
    motion = along(motion, k3, h / 3)
    motion = along(motion, k4, h / 6)
  }
  const [x, y, z] = motion
  // Relativity is part of tau and gamma.
  return { position: { x, y, z }, clock_s: -g.tau_s + g.gamma * duration_s }
}

function along([x, y, z, vx, vy, vz]: Motion, rate: Motion, times: number): Motion {
  return [
    x + rate[0] * times,
    y + rate[1] * times,
    z + rate[2] * times,
    vx + rate[3] * times,
    vy + rate[4] * times,
    vz + rate[5] * times,
  ]
}

/** Gravity with the flattening of the Earth, rotation, and the pull of Sun and Moon. */
function rates([x, y, z, vx, vy, vz]: Motion, pull: GlonassEphemeris['acceleration_mps2']): Motion {
  const r2 = x * x + y * y + z * z
  const gravity = -mu / (r2 * Math.sqrt(r2))
  const flattening = (1.5 * j2 * radius_m ** 2) / r2
  const equatorial = gravity * (1 + flattening * (1 - (5 * z * z) / r2))
  const polar = gravity * (1 + flattening * (3 - (5 * z * z) / r2))
  const w = rotation_radps
  return [
    vx,
    vy,
    vz,
    (equatorial + w * w) * x + 2 * w * vy + pull.x,
    (equatorial + w * w) * y - 2 * w * vx + pull.y,
    polar * z + pull.z,
  ]
}
