/** A line of the flight record (plugin record): one JSON object. `GET /record` returns such lines, and the simulated receiver replays them. */
import Type, { type Static } from 'typebox'

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

/** State of one component. Fields by key: see plugins/device/record/README.md. */
export const RecordValue = Type.Record(Type.String(), Scalar)
export type RecordValue = Static<typeof RecordValue>

/** Summary of one minute. */
export const RecordMinute = Type.Object({
  epochs: Type.Integer({ minimum: 0, description: 'RTCM epochs that went out' }),
  gap: Type.Number({ minimum: 0, description: 'Longest gap between epochs, seconds' }),
  interrupted: Type.Optional(
    Type.Boolean({ description: 'RTCM did not flow for a part of it: no epoch for three intervals, at least 5 s' }),
  ),
  frames: Type.Record(Type.String(), Type.Integer(), { description: 'RTCM messages that went out, by number' }),
  rovers: Type.Integer({ minimum: 0, description: 'Clients of the stream in the document at the end of the minute' }),
  links: Type.Integer({ minimum: 0, description: 'Links up at the end of the minute' }),
  fixes: Type.Integer({ minimum: 0, description: 'Navigation epochs of the receiver' }),
  fix: Type.String({ description: 'Last fix: none, 3d, time, rtk-fixed, …' }),
  used: Type.Integer({ minimum: 0, description: 'Satellites in the position' }),
  visible: Type.Integer({ minimum: 0, description: 'Satellites received' }),
  acc: Type.Number({ minimum: 0, description: '3D accuracy from the receiver, metres; 0 unknown' }),
  pos: Type.Array(Type.Number(), { description: 'ECEF, metres; in fixed mode the reference. Empty: none' }),
  jam: Type.String({ description: 'unknown, ok, warning or critical' }),
  corrections: Type.Integer({ minimum: 0, description: 'Correction messages received' }),
})
export type RecordMinute = Static<typeof RecordMinute>

export const RecordEntry = Type.Object({
  t: Type.Number({
    description: 'UTC milliseconds, corrected for later clock steps in the same run',
  }),
  up: Type.Number({ description: 'Milliseconds since the service started; never steps' }),
  run: Type.Optional(
    Type.Object(
      { version: Type.String(), how: Type.String(), text: Type.String(), at_ms: Type.Number() },
      { description: 'The service started; how and when the previous run ended (at_ms 0: unknown)' },
    ),
  ),
  stop: Type.Optional(Type.String({ description: 'The service, or this plugin, was stopped' })),
  all: Type.Optional(Type.Record(Type.String(), RecordValue, { description: 'Full state' })),
  set: Type.Optional(
    Type.Record(Type.String(), Type.Union([RecordValue, Type.Null()]), {
      description: 'Changed components; null: removed',
    }),
  ),
  min: Type.Optional(RecordMinute),
  note: Type.Optional(Type.Object({ what: Type.String(), text: Type.String() }, { description: 'An event' })),
  clock: Type.Optional(Type.Object({ by_ms: Type.Number() }, { description: 'The clock was set, by this step' })),
  lost: Type.Optional(Type.Integer({ description: 'Number of lines lost before this line' })),
})
export type RecordEntry = Static<typeof RecordEntry>
