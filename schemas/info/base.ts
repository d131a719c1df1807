/** The `base` block of the document. */
import Type, { type Static } from 'typebox'

/** `base.state.base` */
export const BaseStateName = Type.Union(
  [
    Type.Literal('starting', { description: 'no RTCM is sent yet; lasts up to 120 s after the start or a survey-in' }),
    Type.Literal('surveying', { description: 'a survey-in is running' }),
    Type.Literal('ready', { description: 'a receiver is up and RTCM is sent' }),
    Type.Literal('degraded', {
      description: 'no RTCM is sent; for the reason see `gnss.state.status` and `base.state.errors`',
    }),
    Type.Literal('updating', { description: 'an update is being installed' }),
    Type.Literal('stopping', { description: 'a restart or a shutdown is under way' }),
  ],
  { description: 'State of the base' },
)
export type BaseStateName = Static<typeof BaseStateName>

/** `base.update.state` */
export const UpdateStateName = Type.Union(
  [
    Type.Literal('idle', { description: 'no update yet, or the last one succeeded' }),
    Type.Literal('downloading', { description: 'the image is being downloaded from a URL' }),
    Type.Literal('verifying', {
      description:
        'the signature is being checked; after the restart: the new version is on trial until it is confirmed',
    }),
    Type.Literal('installing', { description: 'files are being unpacked, each checked against its signed checksum' }),
    Type.Literal('rebooting', { description: 'the new version is installed and starts next' }),
    Type.Literal('failed', {
      description: 'the update was rejected or aborted; the error `update-failed` has the reason',
    }),
  ],
  { description: 'State of the update' },
)
export type UpdateStateName = Static<typeof UpdateStateName>

/** `base.update` */
export const BaseUpdate = Type.Object({
  state: UpdateStateName,
  failed: Type.Boolean({ description: 'The last update failed; false again once the next one begins' }),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Progress of the step in `state`, percent' }),
})
export type BaseUpdate = Static<typeof BaseUpdate>

export const fitnesses = ['fit', 'degraded', 'unfit'] as const

/** `base.state.verdict.fitness` */
export const Fitness = Type.Union(
  [
    Type.Literal('fit', { description: 'RTCM is sent from a verified position, without errors' }),
    Type.Literal('degraded', { description: 'RTCM is sent, but something needs attention' }),
    Type.Literal('unfit', { description: 'no RTCM is sent' }),
  ],
  { description: 'Whether the base can serve rovers' },
)
export type Fitness = Static<typeof Fitness>

/** The numbers and words that vary in a text, for translations. A key ends with the unit (`distance_m`). */
const Values = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
  description: 'The numbers and words that vary in the text, for translations',
})

export const Verdict = Type.Object(
  {
    fitness: Fitness,
    code: Type.String({ description: 'Code of the deciding rule; `ok` if nothing is wrong' }),
    why: Type.String({ description: 'Reason, one sentence' }),
    advice: Type.String({ description: 'Suggested remedy; empty if none is needed' }),
    since: Type.Integer({
      minimum: 0,
      description: 'Time of the last change of `fitness` or `code`, UTC seconds; 0 without a credible clock',
    }),
    for_s: Type.Integer({ minimum: 0, description: 'Seconds since `fitness` or `code` last changed' }),
    why_code: Type.Optional(
      Type.String({ description: 'Code of `why` and `advice`; of an error if they are its text' }),
    ),
    values: Type.Optional(Values),
  },
  { description: 'Overall verdict on the base' },
)
export type Verdict = Static<typeof Verdict>

/** `base.clock` */
export const BaseClock = Type.Object(
  {
    kept: Type.Union(
      [
        Type.Literal('ntp', { description: 'by NTP, PTP or chrony, according to timedatectl' }),
        Type.Literal('receiver', { description: 'by this service, from the receiver' }),
        Type.Literal('nobody', { description: 'not synchronised' }),
        Type.Literal('unknown', { description: 'not reported, or not queried yet' }),
      ],
      { description: 'Source that synchronises the system clock' },
    ),
    offset: Type.Number({
      description: 'Receiver time minus system clock, seconds; 0 while the receiver reports no time',
    }),
    served: Type.Integer({
      minimum: 0,
      description: 'Port on 127.0.0.1 that serves the receiver time now; 0: none',
    }),
  },
  { description: 'The system clock' },
)
export type BaseClock = Static<typeof BaseClock>

/** `base.machine` */
export const BaseMachine = Type.Object(
  {
    temp: Type.Optional(
      Type.Number({ description: 'Temperature of the hottest part that has a sensor, °C; omitted without one' }),
    ),
    disk: Type.Optional(
      Type.Object(
        { free: Type.Number({ minimum: 0 }), size: Type.Number({ minimum: 0 }) },
        { description: 'The disk with the data folder, bytes; omitted if it cannot be asked' },
      ),
    ),
    undervoltage: Type.Optional(
      Type.Boolean({
        description: 'The supply voltage is or was too low since the start; omitted if the machine does not measure it',
      }),
    ),
  },
  { description: 'The machine; at most 10 s old when it is asked for repeatedly' },
)
export type BaseMachine = Static<typeof BaseMachine>

export const BaseState = Type.Object({
  base: BaseStateName,
  verdict: Verdict,
  errors: Type.Array(
    Type.Object({
      code: Type.String({ description: 'Error code' }),
      text: Type.String({ description: 'Problem, then advice after a semicolon' }),
      values: Type.Optional(Values),
      t: Type.Integer({ minimum: 0, description: 'Start of the error, UTC seconds; 0 without a credible clock' }),
    }),
    { maxItems: 32, description: 'Current errors, newest last' },
  ),
  trial: Type.Optional(
    Type.Object(
      {
        parameters: Type.Array(Type.String(), { description: 'The changed parameters' }),
        left_s: Type.Integer({ minimum: 0, description: 'Seconds until the old values are restored' }),
      },
      { description: 'An unconfirmed change that may have disconnected its caller, if there is one' },
    ),
  ),
})
export type BaseState = Static<typeof BaseState>

/** `base.leds.red`, `.green`, `.rgb` */
export const LedInfo = Type.Object({
  pattern: Type.Array(
    Type.Object({
      v: Type.Integer({ minimum: 0, maximum: 0xffffff, description: 'Colour 0xRRGGBB' }),
      t: Type.Number({ minimum: 0, description: 'Seconds' }),
    }),
    { description: 'Repeating pattern; empty if the station lacks this LED' },
  ),
})

/** Each part is present while its plugin runs. */
export const BaseInfo = Type.Object(
  {
    name: Type.String({
      maxLength: 64,
      description: 'Name that people gave the station (`station-name`); may be empty',
    }),
    state: BaseState,
    clock: BaseClock,
    machine: Type.Optional(BaseMachine),
    update: Type.Optional(BaseUpdate),
    log: Type.Optional(
      Type.Object({
        save_period: Type.Integer({
          minimum: 0,
          description: '`log-save-period`, seconds; 0: only when the service stops',
        }),
      }),
    ),
    leds: Type.Optional(Type.Object({ red: LedInfo, green: LedInfo, rgb: LedInfo })),
  },
  { description: 'The base: its state, its verdict, updates, LEDs' },
)
export type BaseInfo = Static<typeof BaseInfo>
