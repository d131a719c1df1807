/** The `base` block of the document. */
import Type, { type Static } from 'typebox'

/** `base.state.base` */
export const BaseStateName = Type.Union(
  [
    Type.Literal('starting', { description: 'no RTCM goes out yet: up to 120 s after the start or a survey-in' }),
    Type.Literal('surveying', { description: 'a survey-in runs' }),
    Type.Literal('ready', { description: 'a receiver is up and RTCM goes out' }),
    Type.Literal('degraded', { description: 'no RTCM goes out: `gnss.state.status` and `base.state.errors` say why' }),
    Type.Literal('updating', { description: 'an update is being installed' }),
    Type.Literal('stopping', { description: 'a restart is under way' }),
  ],
  { description: 'What the base does' },
)
export type BaseStateName = Static<typeof BaseStateName>

/** `base.update.state` */
export const UpdateStateName = Type.Union(
  [
    Type.Literal('idle', { description: 'no update was made, or the last one succeeded' }),
    Type.Literal('downloading', { description: 'the image is fetched from a URL' }),
    Type.Literal('verifying', {
      description: 'the signature is checked; after the restart: the new version is on trial until it is confirmed',
    }),
    Type.Literal('installing', { description: 'files are unpacked, each checked against what was signed' }),
    Type.Literal('rebooting', { description: 'the new version is installed and is started next' }),
    Type.Literal('failed', { description: 'it was refused or given up: the error `update-failed` has the reason' }),
  ],
  { description: 'What the update does' },
)
export type UpdateStateName = Static<typeof UpdateStateName>

/** `base.update` */
export const BaseUpdate = Type.Object({
  state: UpdateStateName,
  failed: Type.Boolean({ description: 'The last update failed; until the next one begins' }),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Percent of what `state` names' }),
})
export type BaseUpdate = Static<typeof BaseUpdate>

export const fitnesses = ['fit', 'degraded', 'unfit'] as const

/** `base.state.verdict.fitness` */
export const Fitness = Type.Union(
  [
    Type.Literal('fit', { description: 'RTCM goes out from a position that is checked, and nothing is wrong' }),
    Type.Literal('degraded', { description: 'RTCM goes out, and something should be mended' }),
    Type.Literal('unfit', { description: 'no RTCM goes out' }),
  ],
  { description: 'Whether the base is fit to serve' },
)
export type Fitness = Static<typeof Fitness>

export const Verdict = Type.Object(
  {
    fitness: Fitness,
    code: Type.String({ description: 'Of the rule that decides; `ok` when nothing is wrong' }),
    why: Type.String(),
    advice: Type.String({ description: 'What a person can do; empty: nothing is to be done' }),
    since: Type.Integer({ minimum: 0, description: 'UTC seconds; 0 without a credible clock' }),
    for_s: Type.Integer({ minimum: 0, description: 'Seconds since fitness and code are these' }),
  },
  { description: 'The most important thing about the base, by one table' },
)
export type Verdict = Static<typeof Verdict>

/** `base.clock` */
export const BaseClock = Type.Object(
  {
    kept: Type.Union(
      [
        Type.Literal('ntp', { description: 'by NTP, PTP or chrony, as timedatectl says' }),
        Type.Literal('receiver', { description: 'by this service, from the receiver' }),
        Type.Literal('nobody', { description: 'by nobody' }),
        Type.Literal('unknown', { description: 'the machine does not say, or was not asked yet' }),
      ],
      { description: 'By what the clock of the machine is kept' },
    ),
    offset: Type.Number({
      description: 'Seconds that the receiver is ahead of it; 0 while the receiver tells no time',
    }),
    served: Type.Integer({
      minimum: 0,
      description: 'Port of 127.0.0.1 where the time of the receiver is served now; 0: nowhere',
    }),
  },
  { description: 'The clock of the machine' },
)
export type BaseClock = Static<typeof BaseClock>

export const BaseState = Type.Object({
  base: BaseStateName,
  verdict: Verdict,
  errors: Type.Array(
    Type.Object({
      code: Type.String(),
      text: Type.String(),
      t: Type.Integer({ minimum: 0, description: 'UTC seconds; 0 without a credible clock' }),
    }),
    { maxItems: 32, description: 'What is wrong now, newest last' },
  ),
  trial: Type.Optional(
    Type.Object(
      {
        parameters: Type.Array(Type.String()),
        left_s: Type.Integer({ minimum: 0, description: 'Seconds until their old values return' }),
      },
      { description: 'A change that may have cut its caller off and is not confirmed yet; present only then' },
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
    { description: 'Repeated; empty: there is no such LED' },
  ),
})

/** Each part is present while its plugin runs. */
export const BaseInfo = Type.Object(
  {
    state: BaseState,
    clock: BaseClock,
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
