/** A line of the flight record (plugin record): what `GET /record` answers, one JSON object each, and what the simulated receiver replays. */
import Type, { type Static } from 'typebox'

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

/** How one thing is. Fields by key: see plugins/record/README.md. */
export const RecordValue = Type.Record(Type.String(), Scalar)
export type RecordValue = Static<typeof RecordValue>

/** What one minute had. */
export const RecordMinute = Type.Object({
  epochs: Type.Integer({ minimum: 0, description: 'RTCM epochs that went out' }),
  gap: Type.Number({ minimum: 0, description: 'Longest time without one, seconds' }),
  frames: Type.Record(Type.String(), Type.Integer(), { description: 'RTCM messages that went out, by number' }),
  rovers: Type.Integer({ minimum: 0, description: 'Takers of the stream that the document showed at its end' }),
  links: Type.Integer({ minimum: 0, description: 'Links that were up at its end' }),
  fixes: Type.Integer({ minimum: 0, description: 'Navigation epochs of the receiver' }),
  fix: Type.String({ description: 'The last one: none, 3d, time, rtk-fixed, …' }),
  used: Type.Integer({ minimum: 0, description: 'Satellites in the position' }),
  visible: Type.Integer({ minimum: 0, description: 'Satellites received' }),
  acc: Type.Number({ minimum: 0, description: '3D accuracy by the receiver, metres; 0 unknown' }),
  pos: Type.Array(Type.Number(), { description: 'ECEF, metres; of a base in fixed mode its reference. Empty: none' }),
  jam: Type.String({ description: 'unknown, ok, warning or critical' }),
  corrections: Type.Integer({ minimum: 0, description: 'Correction messages that came in' }),
})
export type RecordMinute = Static<typeof RecordMinute>

export const RecordEntry = Type.Object({
  t: Type.Number({
    description: 'UTC milliseconds, corrected by the steps of the clock that came later in the same run',
  }),
  up: Type.Number({ description: 'Milliseconds since the service started; never steps' }),
  run: Type.Optional(
    Type.Object(
      { version: Type.String(), how: Type.String(), text: Type.String(), at_ms: Type.Number() },
      { description: 'The service started; how and when the run before ended (at_ms 0: unknown)' },
    ),
  ),
  stop: Type.Optional(Type.String({ description: 'The service, or this plugin, was stopped' })),
  all: Type.Optional(Type.Record(Type.String(), RecordValue, { description: 'How everything is' })),
  set: Type.Optional(
    Type.Record(Type.String(), Type.Union([RecordValue, Type.Null()]), {
      description: 'What changed; null: it is gone',
    }),
  ),
  min: Type.Optional(RecordMinute),
  note: Type.Optional(Type.Object({ what: Type.String(), text: Type.String() }, { description: 'Something happened' })),
  clock: Type.Optional(Type.Object({ by_ms: Type.Number() }, { description: 'The clock was set, by so much' })),
  lost: Type.Optional(Type.Integer({ description: 'So many lines before this one could not be written' })),
})
export type RecordEntry = Static<typeof RecordEntry>
