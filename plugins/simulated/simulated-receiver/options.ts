/** Options and reload state of a simulated receiver. */
import { ModelSnapshot } from 'rtk-base/simulation'
import { type Static, Type } from 'typebox'
import { ConfigSnapshot } from './firmware/config-store.js'
import { NavigationState } from './solution.js'

/** Deploy-time options of the plugin. */
export const ReceiverOptions = Type.Object(
  {
    boot: Type.Union([Type.Literal('fixed'), Type.Literal('rover')], {
      default: 'fixed',
      description: 'fixed: an already configured base at its position; rover: factory state',
    }),
    lat: Type.Number({ default: 52, minimum: -90, maximum: 90, description: 'Position of the antenna, degrees' }),
    lon: Type.Number({ default: 4, minimum: -180, maximum: 180, description: 'Degrees' }),
    alt: Type.Number({ default: 50, minimum: -1000, maximum: 100_000, description: 'Ellipsoidal height, metres' }),
    seed: Type.Integer({ default: 1, minimum: 0, maximum: 0xffffffff, description: 'Seed of the noise' }),
    wiring: Type.Union([Type.Literal('USB'), Type.Literal('UART1'), Type.Literal('UART2')], {
      default: 'USB',
      description: 'Port of the receiver',
    }),
    module: Type.Union([Type.Literal('ZED-F9P'), Type.Literal('ZED-X20P')], {
      default: 'ZED-F9P',
      description: 'Model of the receiver: the X20P lacks GLONASS, 1230, 4072, RXM-RTCM (it has RXM-COR) and NAV2',
    }),
    uniqueId: Type.String({
      default: '5A45440001',
      pattern: '^[0-9A-F]{10}$',
      description: '10 hexadecimal digits, upper case',
    }),
    geoidSeparation_m: Type.Number({
      default: 44.568,
      minimum: -120,
      maximum: 120,
      description: 'Height of mean sea level above the ellipsoid, metres',
    }),
    nmea: Type.Boolean({ default: false, description: 'Send NMEA GGA too' }),
    noise: Type.Union([Type.Literal('quiet'), Type.Literal('typical'), Type.Literal('obstructed')], {
      default: 'quiet',
      description: 'Signal conditions',
    }),
    nav2: Type.Boolean({ default: true, description: 'false: older firmware, without the second fix' }),
    satellites: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 128, description: 'Maximum number of received satellites' }),
    ),
    record: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4_096,
        description: 'File with the answer of GET /record: replays the events of that receiver',
      }),
    ),
    recordDelay_s: Type.Integer({
      default: 120,
      minimum: 0,
      maximum: 86_400,
      description: 'Delay from the start to the replay, s: the station may have to survey a reference first',
    }),
    mask_deg: Type.Optional(Type.Number({ minimum: 0, maximum: 90, description: 'Elevation mask, degrees' })),
    tcp: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 65_535,
      description: 'Also listens on this port of 127.0.0.1, for one program at a time; 0: off',
    }),
  },
  { additionalProperties: false },
)
export type PluginOptions = Static<typeof ReceiverOptions>
/** Options of the receiver itself, without those of the line and of the replay. */
export type ReceiverOptions = Omit<PluginOptions, 'record' | 'recordDelay_s' | 'tcp' | 'nav2' | 'noise'> &
  Partial<Pick<PluginOptions, 'nav2' | 'noise'>>

/** Survives a reload of the plugin that holds it. */
export const ReceiverSnapshot = Type.Object({
  config: ConfigSnapshot,
  model: ModelSnapshot,
  navigation: NavigationState,
  /** Monotonic; when it was started. */
  bootedAt_ms: Type.Number(),
  ttff_ms: Type.Number(),
})
export type ReceiverSnapshot = Static<typeof ReceiverSnapshot>
