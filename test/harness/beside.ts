/** What stands beside a plugin on every station: a test names the plugins that it is about. */
import type { Variant } from '../../schemas/variant.js'

type Plugins = Variant['plugins']

interface Beside {
  readonly of: string
  /** Options that a test writes at the plugin beside which it stands; one that is an object gives its members. */
  readonly options?: readonly string[]
  readonly inside?: string
  /** Only where the plugin has this option. */
  readonly where?: readonly [option: string, value: unknown]
}

const beside: Readonly<Record<string, readonly Beside[]>> = {
  gnss: [{ of: 'gnss-zed', options: ['stationId', 'antennaHold', 'spoofedHold'] }],
  integrity: [{ of: 'survey-in', options: ['initial_s', 'phases'] }],
  verdict: [{ of: 'system' }],
  'simulated-receiver': [{ of: 'gnss-zed', inside: 'simulator', where: ['port', 'simulator'] }],
  'simulated-router': [{ of: 'teltonika-router', inside: 'simulator', where: ['url', 'simulator'] }],
  'simulated-machine': [
    { of: 'network', inside: 'simulator', where: ['backend', 'simulator'] },
    { of: 'radio', where: ['backend', 'simulator'] },
    { of: 'leds', where: ['folder', 'simulator'] },
  ],
}

/** @returns the plugins with those beside them, each before the first that it stands beside, and the names of those added */
export function withBeside(given: Plugins): { plugins: Plugins; added: string[] } {
  const plugins: Plugins = {}
  const added: string[] = []
  const entries = Object.entries(beside)
  for (const [name, options] of Object.entries(given)) {
    for (const [other, places] of entries) {
      const place = places.find(({ of }) => of === name)
      const fits = place && (!place.where || options[place.where[0]] === place.where[1])
      if (!fits || other in given || other in plugins) continue
      plugins[other] = {}
      added.push(other)
    }
    plugins[name] = options
  }
  for (const [other, places] of entries) {
    if (!(other in plugins)) continue
    for (const { of, options = [], inside } of places) {
      const all = plugins[of]
      if (!all) continue
      const moved = Object.entries(all).filter(([option]) => options.includes(option))
      const members = inside === undefined ? {} : ((all[inside] as object | undefined) ?? {})
      plugins[other] = { ...Object.fromEntries(moved), ...members, ...plugins[other] }
      const stay = Object.entries(all).filter(([option]) => !options.includes(option) && option !== inside)
      plugins[of] = Object.fromEntries(stay)
    }
  }
  return { plugins, added }
}
