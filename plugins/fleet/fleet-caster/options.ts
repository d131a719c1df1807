import { knownLeap_s } from 'rtk-base/gnss'
import { type Static, Type } from 'typebox'

export const FleetCasterOptions = Type.Object(
  {
    names: Type.Union([Type.Literal('serial'), Type.Literal('label')], {
      default: 'serial',
      description: 'Names of the mountpoints: `serial`: {SN}; `label`: the label `mount` of a station, {SN} without it',
    }),
    near: Type.String({
      default: 'NEAR',
      pattern: '^[A-Za-z0-9_.-]{0,32}$',
      description: 'Mountpoint that chooses the nearest base for each rover; empty: none',
    }),
    nearMost_km: Type.Number({
      default: 100,
      minimum: 1,
      maximum: 2_000,
      description: 'A base that is farther away serves no rover of that mountpoint',
    }),
    allowDegraded: Type.Boolean({
      default: false,
      description: 'Bases with the verdict `degraded` serve rovers too',
    }),
    maxAge_s: Type.Number({
      default: 15,
      minimum: 2,
      maximum: 300,
      description: 'Older epochs are not relayed; by the time in the RTCM itself',
    }),
    leap_s: Type.Integer({
      default: knownLeap_s,
      minimum: 0,
      maximum: 60,
      description: 'GPS time − UTC: change it after the next leap second',
    }),
    authorities: Type.String({
      default: '',
      description: 'PEM file of the authorities of the stations’ certificates: needed for stations that sign',
    }),
    anonymous: Type.Boolean({
      default: false,
      description: 'Rovers of the local network need no account',
    }),
    deliveryDays: Type.Integer({
      default: 400,
      minimum: 1,
      maximum: 4_000,
      description: 'Days that the record of delivery is kept',
    }),
  },
  { additionalProperties: false },
)
export type Settings = Static<typeof FleetCasterOptions>
