/** What a station with every shipped plugin offers, asked of a running one. */
import { createTestStation, freeUdpPort, type TestStationOptions } from 'rtk-base/testing'
import { readVariant } from '../../runtime/tools/cli/variant-file.js'
import type { Station } from '../../schemas/services.js'
import { shippedPlugin, shippedTogether } from '../harness/shipped.js'

export interface Offer {
  readonly parameters: readonly ReturnType<Station['parameters']>[number][]
  readonly actions: readonly ReturnType<Station['actions']>[number][]
  readonly routes: readonly { method: string; path: string; summary: string; plugin: string }[]
}

/** Options with which a plugin runs beside other programs. */
const ownOptions: Record<string, Record<string, unknown>> = {
  'mqtt-broker': { port: 0 },
  'udp-rtcm': { host: '127.0.0.1' },
}

export async function everyOffer(): Promise<Offer> {
  const [together, ...others] = shippedTogether()
  const first = await offerOf(together)
  const offers = [first]
  // What the runtime offers is in the first already.
  for (const names of others) {
    const { parameters, actions, routes } = await offerOf([...names, 'http-api'])
    const own = <T extends { plugin: string }>(all: readonly T[]) => all.filter(({ plugin }) => names.includes(plugin))
    offers.push({ parameters: own(parameters), actions: own(actions), routes: own(routes) })
  }
  return {
    parameters: offers.flatMap(({ parameters }) => parameters),
    actions: offers.flatMap(({ actions }) => actions),
    routes: offers.flatMap(({ routes }) => routes),
  }
}

/** A fleet lets nobody in until it knows its people. */
const token = 'of-the-reference'

async function offerOf(names: readonly string[]): Promise<Offer> {
  const { variant } = readVariant()
  const plugins: NonNullable<TestStationOptions['plugins']> = {}
  for (const name of names.toSorted()) {
    plugins[name] = [await shippedPlugin(name), { ...variant.plugins[name], ...ownOptions[name] }] as never
  }
  const changes = { 'mqtt-en': 0, 'udp-port': await freeUdpPort() }
  const http = { host: '127.0.0.1', port: 0, token }
  const station = await createTestStation({
    plugins,
    variant: { http, changes: names.includes('udp-rtcm') ? changes : {} },
  })
  try {
    type Operation = { summary?: string; tags?: string[] }
    const { paths } = (
      await station.request('/openapi.json', { headers: { authorization: `Bearer ${token}` } })
    ).json() as {
      paths: Record<string, Record<string, Operation>>
    }
    const routes = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { summary = '', tags = [] }]) => ({
        ...{ method: method.toUpperCase(), path, summary, plugin: tags[0] ?? '' },
      })),
    )
    return { parameters: station.station.parameters(), actions: station.station.actions(), routes }
  } finally {
    await station.stop()
  }
}
