/**
 * Parameters of the satellites and RTCM messages, for a receiver of any make. The procedure hands them over with `configure`. A parameter
 * that is not set leaves its part to the options of the receiver's plugin.
 */
import type { ConfigKey, PluginContext } from 'rtk-base/plugin'
import { type Receiver, type ReceiverOutput, receiver, switchableConstellations } from 'rtk-base/services'
import { Type } from 'typebox'

type Member = keyof ReceiverOutput

const Constellation = Type.Union(switchableConstellations.map((name) => Type.Literal(name)))
const unset = 'Empty: as preset for this receiver'
const interval = () => Type.Union([Type.Integer({ minimum: 1, maximum: 255 }), Type.Null()], { description: unset })

/** Each member with its words for "this receiver cannot …". */
const parts: Readonly<Record<Member, string>> = {
  constellations: 'the constellations',
  elevationMask_deg: 'the elevation mask',
  msm: 'the MSM type',
  observationInterval_s: 'the interval of the observations',
  referenceInterval_s: 'the interval of the reference position (1005)',
  biasInterval_s: 'the interval of the GLONASS biases (1230)',
}

export interface OutputSettings {
  /** Names of the parameters. */
  readonly names: readonly string[]
  /** Chosen output; undefined: nothing was chosen. */
  chosen(): ReceiverOutput | undefined
}

export function defineOutput({ config, services }: Pick<PluginContext, 'config' | 'services'>): OutputSettings {
  const keys: Readonly<Record<Member, ConfigKey<unknown>>> = {
    constellations: config.define(
      'gnss-constellations',
      Type.Array(Constellation, {
        maxItems: switchableConstellations.length,
        uniqueItems: true,
        description: 'Empty: the receiver keeps its own. QZSS is switched together with GPS',
      }),
      { default: [], title: 'Satellites: constellations' },
    ),
    elevationMask_deg: config.define(
      'gnss-elevation-mask',
      Type.Union([Type.Integer({ minimum: 0, maximum: 60 }), Type.Null()], {
        description: 'Empty: the receiver keeps its own',
      }),
      { default: null, title: 'Satellites: elevation mask, °' },
    ),
    msm: config.define(
      'gnss-msm',
      Type.Union([Type.Literal(4, { title: 'MSM4' }), Type.Literal(7, { title: 'MSM7' }), Type.Null()], {
        description: `MSM7 has Doppler and finer resolution at 1.6 times the size. ${unset}`,
      }),
      { default: null, title: 'RTCM: MSM type' },
    ),
    observationInterval_s: config.define('gnss-msm-interval', interval(), {
      default: null,
      title: 'RTCM: interval of the observations, s',
    }),
    referenceInterval_s: config.define('gnss-reference-interval', interval(), {
      default: null,
      title: 'RTCM: interval of the reference position (1005), s',
    }),
    biasInterval_s: config.define('gnss-bias-interval', interval(), {
      default: null,
      title: 'RTCM: interval of the GLONASS biases (1230), s',
    }),
  }
  const members = Object.entries(keys) as [Member, ConfigKey<unknown>][]
  for (const [member, { name }] of members)
    config.rule([name], (get) => {
      const value = get(name)
      return isSet(value) ? (wrong(member, value) ?? refusal(member, value, services.find(receiver))) : undefined
    })
  return {
    names: members.map(([, { name }]) => name),
    chosen() {
      const set = members.map(([member, key]) => [member, key.get()] as const).filter(([, value]) => isSet(value))
      return set.length > 0 ? Object.fromEntries(set) : undefined
    },
  }
}

const isSet = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : value !== null)

/**
 * GLONASS alone is refused: its satellites send on frequencies of their own, and the receiver's time is that of GPS. Any other single
 * constellation works. A rule of two would not help the movement check, which needs Galileo or BeiDou: GPS with GLONASS is as weak as GPS alone.
 */
function wrong(member: Member, value: unknown): string | undefined {
  if (member !== 'constellations') return undefined
  const names = value as readonly string[]
  return names.some((name) => name !== 'glonass')
    ? undefined
    : 'GLONASS alone is not enough: add GPS, Galileo or BeiDou'
}

/** Why this receiver does not take it. Nothing is known of one that is not there yet. */
function refusal(member: Member, value: unknown, present: Receiver | undefined): string | undefined {
  if (!present) return undefined
  if (present.mode === 'listening')
    return 'the receiver is only listened to: the program that configures it decides this'
  const model = present.identity.module || 'the receiver'
  if (!present.can?.output?.has(member)) return `the station cannot set ${parts[member]} of ${model}`
  const intervals_s = present.can.intervals_s
  if (member !== 'observationInterval_s' || intervals_s.length === 0 || intervals_s.includes(value as number))
    return undefined
  return `${model} sends observations every ${intervals_s.join(', ')} s, not every ${value} s`
}

const Output = Type.Object(
  {
    constellations: Type.Optional(Type.Array(Constellation)),
    elevationMask_deg: Type.Optional(Type.Number()),
    msm: Type.Optional(Type.Integer()),
    observationInterval_s: Type.Optional(Type.Number()),
    referenceInterval_s: Type.Optional(Type.Number()),
    biasInterval_s: Type.Optional(Type.Number()),
  },
  { description: 'As chosen, or as the receiver is configured; left out: unknown' },
)

/** The page's route: which satellites and messages the receiver can switch, so that only those are offered. */
export function outputRoute(ctx: PluginContext, { chosen }: Pick<OutputSettings, 'chosen'>): void {
  ctx.http.route({
    method: 'GET',
    url: '/receiver-output',
    schema: {
      summary: 'Satellites and messages of the receiver, and which of them can be set',
      response: {
        200: Type.Object({
          model: Type.String({ description: 'Empty: no receiver' }),
          can: Type.Array(Type.String(), { description: 'Members of `now` that can be set' }),
          intervals: Type.Array(Type.Number(), { description: 'Possible intervals of observations, s' }),
          now: Output,
        }),
      },
    },
    handler: async () => {
      const present = ctx.services.find(receiver)
      const isSettable = present !== undefined && present.mode !== 'listening'
      const can = new Set(isSettable ? present.can?.output : undefined)
      const own = Object.fromEntries(Object.entries(chosen() ?? {}).filter(([name]) => can.has(name as Member)))
      // What was chosen a moment ago is on its way to the receiver.
      const { constellations, ...rest }: ReceiverOutput = { ...present?.output, ...own }
      return {
        model: present?.identity.module ?? '',
        can: [...can],
        intervals: [...(present?.can?.intervals_s ?? [])],
        now: { ...rest, ...(constellations && { constellations: [...constellations] }) },
      }
    },
  })
}
