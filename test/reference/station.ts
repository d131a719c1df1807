/** What a station with every shipped plugin offers, asked of a running one. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createTestStation, freeUdpPort, type TestStationOptions } from 'rtk-base/testing'
import { packageRoot } from '../../runtime/build/release.js'
import { readVariant } from '../../runtime/cli/variant-file.js'
import type { Station } from '../../schemas/services.js'
import { shippedPlugin } from '../harness/shipped.js'

export interface Offer {
  readonly parameters: readonly ReturnType<Station['parameters']>[number][]
  readonly commands: readonly ReturnType<Station['commands']>[number][]
  readonly routes: readonly { method: string; path: string; summary: string; plugin: string }[]
}

/** Options with which a plugin runs beside other programs. */
const ownOptions: Record<string, Record<string, unknown>> = {
  'mqtt-broker': { port: 0 },
  'udp-rtcm': { host: '127.0.0.1' },
}

export async function everyOffer(): Promise<Offer> {
  const folder = join(packageRoot(), 'plugins')
  const { variant } = readVariant()
  const plugins: NonNullable<TestStationOptions['plugins']> = {}
  for (const name of readdirSync(folder).sort()) {
    if (!existsSync(join(folder, name, 'index.ts'))) continue
    plugins[name] = [await shippedPlugin(name), { ...variant.plugins[name], ...ownOptions[name] }] as never
  }
  const changes = { 'mqtt-en': 0, 'udp-port': await freeUdpPort() }
  const station = await createTestStation({ plugins, variant: { changes } })
  try {
    type Operation = { summary?: string; tags?: string[] }
    const { paths } = (await station.request('/openapi.json')).json() as {
      paths: Record<string, Record<string, Operation>>
    }
    const routes = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { summary = '', tags = [] }]) => ({
        ...{ method: method.toUpperCase(), path, summary, plugin: tags[0] ?? '' },
      })),
    )
    return { parameters: station.station.parameters(), commands: station.station.commands(), routes }
  } finally {
    await station.stop()
  }
}
