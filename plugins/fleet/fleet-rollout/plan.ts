/** The plan of a rollout: its change, its stations and its steps. */
import { badValue, censor, didYouMean, withoutSecrets } from 'rtk-base/plugin'
import type { StationSettings } from 'rtk-base/schemas'
import type { FleetStation } from 'rtk-base/services'
import { type Static, Type } from 'typebox'

const labels = Type.Record(Type.String({ pattern: '^[\\w.-]{1,32}$' }), Type.String({ maxLength: 64 }), {
  maxProperties: 16,
  description: 'Labels that a station must have',
})
const clock = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' })

const mostSerials = 20_000
const longestSerial = 64
/** The largest plan: the serial numbers with quotes and commas, and everything else. */
export const mostPlan_bytes = mostSerials * (longestSerial + 3) + 65_536

export const Filter = Type.Object(
  {
    serials: Type.Optional(Type.Array(Type.String({ maxLength: longestSerial }), { maxItems: mostSerials })),
    group: Type.Optional(Type.String({ maxLength: 64 })),
    labels: Type.Optional(labels),
    variant: Type.Optional(Type.String({ maxLength: 64 })),
    version: Type.Optional(Type.String({ maxLength: 64, description: 'Only stations with this version' })),
  },
  { additionalProperties: false, description: 'Stations for which all of it holds; empty: every station' },
)
export type Filter = Static<typeof Filter>

const Values = Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), { minProperties: 1, maxProperties: 100 })

export const What = Type.Union([
  Type.Object(
    {
      change: Values,
      back: Type.Optional(
        Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), {
          maxProperties: 100,
          description: 'Values that a failed station gets; default: it keeps the new ones',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      image: Type.String({ pattern: '^https?://\\S+$', maxLength: 512, description: 'URL of a signed image' }),
      version: Type.String({ minLength: 1, maxLength: 64, description: 'Version that a station then reports' }),
    },
    { additionalProperties: false },
  ),
])
export type What = Static<typeof What>

const Wave = Type.Union(
  [
    Type.Object({ count: Type.Integer({ minimum: 1, maximum: 100_000 }) }, { additionalProperties: false }),
    Type.Object({ percent: Type.Number({ exclusiveMinimum: 0, maximum: 100 }) }, { additionalProperties: false }),
    Type.Object({ labels }, { additionalProperties: false }),
  ],
  { description: 'Stations by number, by share of all, or by label; a last wave takes the rest' },
)

/** Taken where a request does not say otherwise. */
const defaults = {
  waves: [{ count: 1 }, { percent: 5 }] as Static<typeof Wave>[],
  soak_s: 600,
  prove_s: 60,
  limit_s: 1_800,
  errors: 0,
  atOnce: 20,
  apart_km: 50,
  force: false,
  position: false,
}

const always = {
  name: Type.String({ minLength: 1, maxLength: 64 }),
  filter: Filter,
  what: What,
}
const tunable = {
  waves: Type.Array(Wave, {
    default: defaults.waves,
    maxItems: 20,
    description: 'Default: one station, then 5 %, then the rest',
  }),
  soak_s: Type.Integer({
    default: defaults.soak_s,
    minimum: 0,
    maximum: 2_592_000,
    description: 'Between two waves, while all stations of the wave must stay fit',
  }),
  prove_s: Type.Integer({
    default: defaults.prove_s,
    minimum: 10,
    maximum: 3_600,
    description: 'A station counts once it was fit this long',
  }),
  limit_s: Type.Integer({
    default: defaults.limit_s,
    minimum: 60,
    maximum: 86_400,
    description: 'A station that takes longer has failed',
  }),
  errors: Type.Integer({
    default: defaults.errors,
    minimum: 0,
    maximum: 10_000,
    description: 'Failed stations that are accepted',
  }),
  atOnce: Type.Integer({
    default: defaults.atOnce,
    minimum: 1,
    maximum: 500,
    description: 'Stations that are changed at the same time',
  }),
  apart_km: Type.Number({
    default: defaults.apart_km,
    minimum: 0,
    maximum: 1_000,
    description: 'Two stations nearer to each other than this are never changed at the same time',
  }),
  force: Type.Boolean({ default: defaults.force, description: 'Also stations with connected rovers' }),
  position: Type.Boolean({
    default: defaults.position,
    description:
      'A wave ends only when the neighbours confirm the positions of its stations again, or after 2.5 h. Needs fleet-net',
  }),
}
const Window = Type.Object(
  { from: clock, to: clock },
  { additionalProperties: false, description: 'UTC; stations are begun only then' },
)

export const Plan = Type.Object(
  { ...always, ...tunable, window: Type.Optional(Window) },
  { additionalProperties: false },
)
export type Plan = Static<typeof Plan>

/** A plan as it is sent: everything that has a default may be left out. */
export const PlanRequest = Type.Object(
  { ...always, ...Type.Partial(Type.Object(tunable)).properties, window: Type.Optional(Window) },
  { additionalProperties: false },
)
export const planOf = (request: Static<typeof PlanRequest>): Plan => ({ ...defaults, ...request })

/** A plan as it is kept. */
export interface StoredPlan extends Plan {
  /** The parameters whose values nobody is shown; `all`: no station said which of them are secret. */
  readonly secrets: readonly string[] | 'all'
}

/**
 * @param serial of the first station that the plan changes
 * @param settings of that station; undefined: it does not say them, as one of another make
 * @throws RTK_ERR_COMMAND_VALUE for a parameter that this station does not have
 */
export function storedPlan(plan: Plan, serial: string, settings: StationSettings | undefined): StoredPlan {
  if (!('change' in plan.what)) return { ...plan, secrets: [] }
  if (!settings) return { ...plan, secrets: 'all' }
  const { parameters } = settings
  const names = parameters.map(({ name }) => name)
  const unknown = Object.keys({ ...plan.what.change, ...plan.what.back }).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw badValue(`station ${serial}: unknown parameter ${unknown}${didYouMean(unknown, names)}`)
  }
  return { ...plan, secrets: parameters.filter(({ secret }) => secret).map(({ name }) => name) }
}

/**
 * A plan as people see it: without the values of secret parameters, and of secret fields in others; and without its list of
 * stations, of which there may be 20,000.
 */
export function shownPlan({ filter: { serials: _many, ...filter }, secrets, ...others }: StoredPlan): Plan {
  const plan = { ...others, filter }
  if (!('change' in plan.what)) return plan
  const { back, change } = plan.what
  const isSecret = (name: string) => secrets === 'all' || secrets.includes(name)
  const shown = (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        isSecret(name) ? censor : withoutSecrets({ [name]: value })[name],
      ]),
    )
  return { ...plan, what: { change: shown(change), ...(back && { back: shown(back) }) } }
}

/** @returns whether a station fits */
export function matching({ serials, group, labels: wanted = {}, variant, version }: Filter) {
  const named = serials && new Set(serials)
  return (station: FleetStation): boolean =>
    (named === undefined || named.has(station.serial)) &&
    (group === undefined || station.group === group) &&
    (variant === undefined || station.variant === variant) &&
    (version === undefined || station.version === version) &&
    hasLabels(station, wanted)
}

const hasLabels = (station: FleetStation, wanted: Readonly<Record<string, string>>) =>
  Object.entries(wanted).every(([name, value]) => station.labels[name] === value)

/**
 * The stations of each wave. Stations that are offline or not fit come last, because they cannot prove a change. Otherwise the order is the
 * same in each call: by serial number, scattered, so that a wave is spread over the country.
 * @returns serial numbers by wave, no empty waves
 */
export function wavesOf({ filter, waves }: Plan, stations: readonly FleetStation[]): string[][] {
  const left = new Map(
    stations
      .filter(matching(filter))
      .sort(
        (one, other) =>
          Number(isWell(other)) - Number(isWell(one)) ||
          scatter(one.serial) - scatter(other.serial) ||
          one.serial.localeCompare(other.serial),
      )
      .map((station) => [station.serial, station]),
  )
  const all = left.size
  const found: string[][] = []
  for (const wave of waves) {
    const fits = [...left.values()].filter((station) => !('labels' in wave) || hasLabels(station, wave.labels))
    const most = 'count' in wave ? wave.count : 'percent' in wave ? Math.ceil((all * wave.percent) / 100) : fits.length
    const chosen = fits.slice(0, most).map(({ serial }) => serial)
    for (const serial of chosen) left.delete(serial)
    found.push(chosen)
  }
  found.push([...left.keys()])
  return found.filter((serials) => serials.length > 0)
}

const isWell = ({ online, verdict }: FleetStation) => online === 'online' && verdict === 'fit'

/** FNV-1a, 32 bits. */
function scatter(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/** Whether stations may be begun at this time. */
export function isOpen({ window }: Plan, now_s: number): boolean {
  if (!window) return true
  const minute = Math.floor((now_s % 86_400) / 60)
  const [from, to] = [window.from, window.to].map((time) => {
    const [hours = 0, minutes = 0] = time.split(':').map(Number)
    return hours * 60 + minutes
  }) as [number, number]
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to
}
