import { createRequire } from 'node:module'

// A literal `require` per package: the device build puts exactly these into its bundle in place of this file.
const require = createRequire(import.meta.url)

/** The npm packages of the host table, each loaded at its first use. */
export const hostPackages: Readonly<Record<string, () => unknown>> = {
  typebox: () => require('typebox'),
  'typebox/value': () => require('typebox/value'),
  'typebox/compile': () => require('typebox/compile'),
  'fastify-plugin': () => require('fastify-plugin'),
  pino: () => require('pino'),
  mqtt: () => require('mqtt'),
  serialport: () => require('serialport'),
  undici: () => require('undici'),
}

/** npm packages that only the runtime uses, and not at every start. */
export const ownPackages: Readonly<Record<string, () => unknown>> = {
  '@jellybrick/dbus-next': () => require('@jellybrick/dbus-next'),
  'prom-client/lib/counter': () => require('prom-client/lib/counter'),
  'prom-client/lib/gauge': () => require('prom-client/lib/gauge'),
  'prom-client/lib/histogram': () => require('prom-client/lib/histogram'),
  'prom-client/lib/registry': () => require('prom-client/lib/registry'),
}
