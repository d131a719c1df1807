/** The `base.state` block of the document. */
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

export const BaseState = Type.Object({
  base: BaseStateName,
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
