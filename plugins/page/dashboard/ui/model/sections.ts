/** The sections of the settings, by what a person wants to do. Pure. */
import type { Parameter } from '../station/api.js'

/** Begin of a key → its section, and the page with the form for these settings. In the order in which they are shown. */
const rules: readonly (readonly [begin: RegExp, section: string, page?: string])[] = [
  [/^(station-name|log-)/, 'station'],
  [/^gnss-antenna-/, 'antenna'],
  [/^gnss-(constellations|elevation-mask|msm|reference-interval|bias-interval)/, 'satellites', 'rtcm'],
  [/^gnss-(ref-|announce-|plate$)/, 'position', 'positions'],
  [/^gnss-survey-/, 'survey', 'survey'],
  [/^gnss-initial-/, 'check'],
  [/^neighbours/, 'neighbours'],
  [/^(ntrip-client|gnss-recvrtcm-)/, 'corrections', 'survey'],
  [/^ntrip-caster-/, 'caster', 'rovers'],
  [/^(ntrip-server|rtcm-|udp-|gnss-station-id)/, 'outputs', 'links'],
  [/^mqtt-/, 'mqtt', 'links'],
  [/^(eth-|sta-)/, 'network', 'network'],
  [/^(wap-|wifi-)/, 'wifi', 'network'],
  [/^alerts-/, 'alerts'],
  [/^(mob-|mobile-|rtr-|recovery-)/, 'mobile', 'network'],
]

export interface Section {
  /** Of a text `section.NAME`; of a plugin that no rule knows, its name. */
  readonly name: string
  readonly page: string | undefined
  readonly own: readonly Parameter[]
}

/** Every parameter once, those of other plugins last. */
export function sectionsOf(parameters: readonly Parameter[]): readonly Section[] {
  const found = new Map<string, { page: string | undefined; own: Parameter[] }>()
  for (const [, name, page] of rules) found.set(name, { page, own: [] })
  for (const one of parameters) {
    const name = rules.find(([begin]) => begin.test(one.name))?.[1] ?? one.plugin
    const section = found.get(name) ?? { page: undefined, own: [] }
    section.own.push(one)
    found.set(name, section)
  }
  return [...found].filter(([, { own }]) => own.length > 0).map(([name, section]) => ({ name, ...section }))
}
