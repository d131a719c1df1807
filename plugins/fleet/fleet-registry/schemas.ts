/** Answers of the registry's routes. */
import type { FleetEvent, FleetStation } from 'rtk-base/services'
import { type Static, Type } from 'typebox'

const Verdict = Type.Enum(['fit', 'degraded', 'unfit', 'unknown'], {
  description: 'Whether the station can serve rovers',
})
const Online = Type.Enum(['online', 'offline', 'unknown'], { description: 'Whether it is connected to the broker' })
export const Serial = Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'Serial number of the station' })
const utc = (description: string) => Type.Integer({ description: `${description}, UTC seconds; 0 unknown` })

/** A station in a list. */
export const StationRow = Type.Object({
  serial: Serial,
  name: Type.String(),
  group: Type.String(),
  labels: Type.Record(Type.String(), Type.String()),
  online: Online,
  verdict: Verdict,
  cause: Type.String({ description: 'Code of the cause, ok if nothing is wrong' }),
  since: utc('Since when it has this verdict'),
  lat: Type.Number({ description: 'Degrees; 0 and 0: unknown' }),
  lon: Type.Number(),
  version: Type.String(),
  rovers: Type.Integer({ description: 'Clients of its own outputs' }),
  seen: utc('Last heard'),
})
export type StationRow = Static<typeof StationRow>

export const rowOf = ({ place, ...station }: FleetStation): StationRow => ({
  serial: station.serial,
  name: station.name,
  group: station.group,
  labels: { ...station.labels },
  online: station.online,
  verdict: station.verdict,
  cause: station.cause,
  since: station.verdictSince_s,
  lat: Number((place?.lat ?? 0).toFixed(6)),
  lon: Number((place?.lon ?? 0).toFixed(6)),
  version: station.version,
  rovers: Math.round(station.rovers),
  seen: station.seen_s,
})

export const Entry = Type.Object({
  id: Type.Optional(Type.Integer({ description: 'Its number in the record; absent in `/fleet/live`' })),
  t: utc('When'),
  serial: Type.String({ description: 'The station; empty: the fleet itself' }),
  kind: Type.String(),
  text: Type.String(),
  by: Type.String({ description: 'Who did it; empty for what was heard' }),
})
export type Entry = Static<typeof Entry>

export const entryOf = ({ t_s, serial, kind, text, by }: FleetEvent): Entry => ({ t: t_s, serial, kind, text, by })

/** Their texts have commands with their answers, and the names of rovers. */
const privateKinds: ReadonlySet<string> = new Set(['command', 'account'])
/** A viewer reads that something was done, and by whom. */
export const entryFor = (entry: Entry, isOperator: boolean): Entry =>
  isOperator || !privateKinds.has(entry.kind) ? entry : { ...entry, text: '' }

export const StationDetail = Type.Intersect([
  StationRow,
  Type.Object({
    why: Type.String({ description: 'The cause in words' }),
    onlineSince: utc('Since when online has this value'),
    source: Type.Enum(['state', 'document', 'none'], { description: 'Where the verdict comes from' }),
    reference: Type.String({ description: 'Changes with the announced position' }),
    alt: Type.Number({ description: 'Ellipsoidal height of the reference, metres; 0 unknown' }),
    variant: Type.String(),
    uplink: Type.String(),
    signed: Type.Boolean({ description: 'Its RTCM over MQTT is signed' }),
    rate: Type.Number({ description: 'Seconds between two publications of RTCM' }),
    certificateUntil: utc('Expiry of its certificate'),
    update: Type.Object({ state: Type.String(), failed: Type.Boolean() }),
    errors: Type.Array(Type.String(), { description: 'Codes of the errors in its newest document' }),
    firstSeen: utc('First heard'),
    documentAt: utc('When its newest document came'),
  }),
])
export type StationDetail = Static<typeof StationDetail>

export const detailOf = (station: FleetStation): StationDetail => ({
  ...rowOf(station),
  why: station.why,
  onlineSince: station.onlineSince_s,
  source: station.source,
  reference: station.reference,
  alt: Number((station.place?.alt ?? 0).toFixed(3)),
  variant: station.variant,
  uplink: station.uplink,
  signed: station.rtcm.signed,
  rate: station.rtcm.rate_s,
  certificateUntil: station.certificateUntil_s,
  update: station.update,
  errors: [...station.errors],
  firstSeen: station.firstSeen_s,
  documentAt: station.document_s,
})

export const Given = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 64, description: 'Empty: as the station names itself' })),
    group: Type.Optional(Type.String({ maxLength: 64, description: 'For filters, rollouts and alerts; empty: none' })),
    labels: Type.Optional(
      Type.Record(Type.String({ pattern: '^[\\w.-]{1,32}$' }), Type.String({ maxLength: 64 }), { maxProperties: 16 }),
    ),
  },
  { additionalProperties: false },
)
