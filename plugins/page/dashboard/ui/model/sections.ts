/** The settings by task, as a person thinks of them, and within a task by section. Pure. */
import type { Parameter } from '../station/api.js'

/** In the order in which they are shown. */
export const tasks = ['position', 'out', 'in', 'network', 'alerts', 'updates', 'access', 'expert'] as const
export type Task = (typeof tasks)[number]

interface Rule {
  /** Begin of the keys. */
  readonly keys: RegExp
  readonly name: string
  readonly task: Task
  /** The page with the form for these settings. */
  readonly page?: string
}

/** In the order in which they are shown. */
const rules: readonly Rule[] = [
  { keys: /^gnss-(ref-|announce-|plate$)/, name: 'position', task: 'position', page: 'positions' },
  { keys: /^gnss-survey-/, name: 'survey', task: 'position', page: 'survey' },
  { keys: /^gnss-initial-/, name: 'check', task: 'position' },
  { keys: /^gnss-antenna-/, name: 'antenna', task: 'position', page: 'positions' },
  { keys: /^neighbours/, name: 'neighbours', task: 'position', page: 'positions' },
  { keys: /^(raw|ppp)-/, name: 'raw', task: 'position', page: 'positions' },
  { keys: /^(ntrip-server|rtcm-|udp-|gnss-station-id)/, name: 'outputs', task: 'out', page: 'links' },
  { keys: /^ntrip-caster-/, name: 'caster', task: 'out', page: 'rovers' },
  { keys: /^mqtt-/, name: 'mqtt', task: 'out', page: 'links' },
  {
    keys: /^gnss-(constellations|elevation-mask|msm|reference-interval|bias-interval)/,
    ...{ name: 'satellites', task: 'out', page: 'rtcm' },
  },
  { keys: /^(ntrip-client|gnss-recvrtcm-)/, name: 'corrections', task: 'in', page: 'survey' },
  { keys: /^station-name/, name: 'station', task: 'network', page: 'network' },
  { keys: /^(eth-|sta-)/, name: 'network', task: 'network', page: 'network' },
  { keys: /^(wap-|wifi-)/, name: 'wifi', task: 'network', page: 'network' },
  { keys: /^(mob-|mobile-|rtr-|recovery-)/, name: 'mobile', task: 'network', page: 'network' },
  { keys: /^alerts-/, name: 'alerts', task: 'alerts' },
  { keys: /^update-/, name: 'updates', task: 'updates', page: 'update' },
  { keys: /^map-/, name: 'map', task: 'expert', page: 'rovers' },
  { keys: /^log-/, name: 'log', task: 'expert', page: 'logs' },
]

export interface Section {
  /** The name in a text `section.NAME`; of a plugin that no rule knows, its name. */
  readonly name: string
  readonly task: Task
  readonly page: string | undefined
  readonly own: readonly Parameter[]
}

/** Every parameter once, those of other plugins last, as the settings of experts. */
export function sectionsOf(parameters: readonly Parameter[]): readonly Section[] {
  const ruleOf = ({ name }: Parameter) => rules.find(({ keys }) => keys.test(name))
  const others = new Set(parameters.filter((one) => !ruleOf(one)).map(({ plugin }) => plugin))
  return [
    ...rules.map((rule) => ({
      ...{ name: rule.name, task: rule.task, page: rule.page },
      own: parameters.filter((one) => ruleOf(one) === rule),
    })),
    ...[...others].map((plugin) => ({
      ...{ name: plugin, task: 'expert' as const, page: undefined },
      own: parameters.filter((one) => !ruleOf(one) && one.plugin === plugin),
    })),
  ].filter(({ own }) => own.length > 0)
}
