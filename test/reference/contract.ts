/** The contract as files, made of the schemas and of what every shipped plugin takes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { packageRoot } from '../../runtime/platform/release.js'
import { type AnyPlugin, definePlugin, type PluginContext, type PluginDefinition } from '../../runtime/plugin.js'
import { type Shipped, schemaFiles } from '../../runtime/tools/build/schema-files.js'
import type { ChangeField } from '../../schemas/station.js'
import { createTestStation, freeTcpPort, freeUdpPort } from '../harness/index.js'
import { shippedPlugin, shippedTogether } from '../harness/shipped.js'

/** The same plugin, which tells what parameters and actions it registers. */
function watched(definition: PluginDefinition, parameters: ChangeField[]): AnyPlugin {
  const watch = (ctx: PluginContext): PluginContext => ({
    ...ctx,
    config: {
      ...ctx.config,
      define(name, schema, options) {
        const { title = name, secret, default: preset } = options
        parameters.push({ name, schema, title, ...(!secret && { default: preset }) })
        return ctx.config.define(name, schema, options)
      },
    },
    action(action) {
      if (action.parameter) parameters.push({ name: action.parameter, schema: Type.Boolean() })
      ctx.action(action)
    },
  })
  const setup = (ctx: PluginContext, options: never) => definition.setup(watch(ctx), options)
  return definePlugin({ ...definition, setup }) as unknown as AnyPlugin
}

/** Every shipped plugin, asked what it takes. */
async function shipped(): Promise<Shipped> {
  const simulator = JSON.parse(readFileSync(join(packageRoot(), 'runtime', 'variants', 'simulator.json'), 'utf8'))
  const parameters: ChangeField[] = []
  const options: Record<string, PluginDefinition['options']> = {}
  const ports: Record<string, object> = { 'mqtt-broker': { port: await freeTcpPort() } }
  const changes = { 'mqtt-en': 0, 'ntrip-caster-en': 0, 'udp-port': await freeUdpPort() }
  for (const together of shippedTogether()) {
    const plugins: Record<string, [AnyPlugin, Record<string, unknown>]> = {}
    for (const name of together) {
      const definition = (await shippedPlugin(name)) as unknown as PluginDefinition
      options[name] = definition.options
      plugins[name] = [watched(definition, parameters), { ...simulator.plugins[name], ...ports[name] }]
    }
    const station = await createTestStation({
      plugins,
      variant: { changes: together.includes('udp-rtcm') ? changes : {} },
    })
    await station.stop()
  }
  return { options, parameters }
}

/** Path relative to the project → text. */
export async function contractFiles(): Promise<Record<string, string>> {
  return schemaFiles(await shipped())
}
