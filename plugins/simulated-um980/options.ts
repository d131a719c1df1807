/** Options and reload state of a simulated UM980. */
import type { Ecef } from 'rtk-base/services'
import type { ModelSnapshot } from 'rtk-base/simulation'
import { type Static, Type } from 'typebox'
import type { Settings } from './settings.js'
import type { NavigationState } from './solution.js'

/** Deploy-time options of the plugin. */
export const Um980Options = Type.Object(
  {
    boot: Type.Union([Type.Literal('rover'), Type.Literal('fixed')], {
      default: 'rover',
      description: 'rover: factory state; fixed: a base at its position, saved in flash',
    }),
    lat: Type.Number({ default: 52, minimum: -90, maximum: 90, description: 'Position of the antenna, degrees' }),
    lon: Type.Number({ default: 4, minimum: -180, maximum: 180, description: 'Degrees' }),
    alt: Type.Number({ default: 50, minimum: -1000, maximum: 100_000, description: 'Ellipsoidal height, metres' }),
    seed: Type.Integer({ default: 1, minimum: 0, maximum: 0xffffffff, description: 'Seed of the noise' }),
    com: Type.Integer({ default: 3, minimum: 1, maximum: 3, description: 'Port of the receiver: COM1 to COM3' }),
    echo: Type.Boolean({ default: false, description: 'The first connection after power-up hears its own commands' }),
    geoidSeparation_m: Type.Number({
      default: 44.568,
      minimum: -120,
      maximum: 120,
      description: 'Height of mean sea level above the ellipsoid, metres',
    }),
    noise: Type.Union([Type.Literal('quiet'), Type.Literal('typical'), Type.Literal('obstructed')], {
      default: 'quiet',
      description: 'Signal conditions',
    }),
    tcp: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 65_535,
      description: 'Also listens on this port of 127.0.0.1, for one program at a time; 0: off',
    }),
  },
  { additionalProperties: false },
)
export type Um980Options = Static<typeof Um980Options>

/** Survives a reload of the plugin. */
export interface Um980Snapshot {
  settings: Settings
  flash: Settings
  flashWrites: number
  memory: { surveyed?: Ecef }
  model: ModelSnapshot
  navigation: NavigationState
  /** Monotonic; when it was started. */
  bootedAt_ms: number
}
