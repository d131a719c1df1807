/**
 * The host table: packages that a plugin's bundle does not carry but gets from the runtime, so that there is one copy of
 * each. A bundle reaches it through a registered symbol, so it works from any folder.
 */

/** Id of a module → how to get it. */
export type HostTable = Readonly<Record<string, () => unknown>>

/**
 * The bundled source for a host module: only the exports that the plugin uses. As CommonJS each file that imports it
 * would get a getter for every export, 17,000 in all.
 */
export function hostSource(table: HostTable, id: string): string {
  const module = table[id]?.() as Record<string, unknown>
  const names = Object.keys(module).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && !reserved.has(name))
  const taken = (name: string) => `/* @__PURE__ */ of(() => host.${name})`
  return [
    `const host = ${askedFor(id)}`,
    'const of = (get) => get()',
    `export default /* @__PURE__ */ of(() => host.__esModule && 'default' in host ? host.default : host)`,
    ...names.map((name, index) => `const e${index} = ${taken(name)}; export { e${index} as ${name} }`),
  ].join('\n')
}

/** Source of a host module for callers of `require`. */
export const requiredSource = (id: string): string => `module.exports = ${askedFor(id)}`

const askedFor = (id: string) => `globalThis[Symbol.for('rtk-base.host')](${JSON.stringify(id)})`
const reserved = new Set(['default', '__esModule'])

/** Makes the table reachable for bundles. */
export function installHost(table: HostTable): void {
  const global = globalThis as unknown as Record<symbol, (id: string) => unknown>
  global[Symbol.for('rtk-base.host')] = (id) => {
    const load = table[id]
    if (!load) throw new Error(`${id} is not a host module; bundle it with the plugin`)
    return load()
  }
}
