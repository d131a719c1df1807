import { type Static, type TProperties, Type } from 'typebox'

/** Options of a simulated receiver of any make. */
export const deviceOptions = {
  boot: Type.Union([Type.Literal('rover'), Type.Literal('fixed')], {
    default: 'rover',
    description: 'rover: factory state; fixed: a base at its position, saved in flash',
  }),
  lat: Type.Number({ default: 52, minimum: -90, maximum: 90, description: 'Position of the antenna, degrees' }),
  lon: Type.Number({ default: 4, minimum: -180, maximum: 180, description: 'Degrees' }),
  alt: Type.Number({ default: 50, minimum: -1000, maximum: 100_000, description: 'Ellipsoidal height, metres' }),
  seed: Type.Integer({ default: 1, minimum: 0, maximum: 0xffffffff, description: 'Seed of the noise' }),
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
  echo: Type.Boolean({ default: false, description: 'The first connection after power-up hears its own commands' }),
  tcp: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 65_535,
    description: 'Also listens on this port of 127.0.0.1, for one program at a time; 0: off',
  }),
}
const Options = Type.Object(deviceOptions)
export type DeviceOptions = Static<typeof Options>

/** Schema of these options with those of a make. */
export const withDeviceOptions = <P extends TProperties>(own: P) =>
  Type.Object({ ...deviceOptions, ...own }, { additionalProperties: false })
