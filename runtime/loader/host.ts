/**
 * The host table: packages that a plugin's bundle does not carry but gets from the runtime, so that there is one copy of
 * each. A bundle reaches it through a registered symbol, so it works from any folder.
 */
import { createRequire } from 'node:module'
import * as schemas from '../../schemas/index.js'
import * as services from '../../schemas/services.js'
import * as gnss from '../gnss/index.js'
import * as plugin from '../plugin.js'

// A literal `require` per package: a device bundle then carries exactly these, each loaded at its first use.
const require = createRequire(import.meta.url)
const packages: Record<string, () => unknown> = {
  'rtk-base/plugin': () => plugin,
  'rtk-base/services': () => services,
  'rtk-base/schemas': () => schemas,
  'rtk-base/gnss': () => gnss,
  typebox: () => require('typebox'),
  'typebox/value': () => require('typebox/value'),
  'typebox/compile': () => require('typebox/compile'),
  'fastify-plugin': () => require('fastify-plugin'),
  pino: () => require('pino'),
  mqtt: () => require('mqtt'),
  serialport: () => require('serialport'),
}

export const hostPackages: readonly string[] = Object.keys(packages)

const hostSymbol = Symbol.for('rtk-base.host')

/** The expression by which a bundle asks for a host package. */
export function hostExpression(id: string): string {
  return `globalThis[Symbol.for('rtk-base.host')](${JSON.stringify(id)})`
}

/** Makes the table reachable for bundles. */
export function installHost(): void {
  const table = globalThis as unknown as Record<symbol, (id: string) => unknown>
  table[hostSymbol] = (id) => {
    const load = packages[id]
    if (!load) throw new Error(`${id} is no host package; bundle it with the plugin`)
    return load()
  }
}
