/** What the variant and the command line set, checked once every plugin is set up and before one is started. */
import type { PluginReport } from '../schemas/services.js'
import { RtkError } from './errors.js'
import type { Tables } from './kernel/tables.js'
import type { RuntimeOptions } from './options.js'
import type { ConfigRegistry } from './registry/config.js'
import { parseBySchema, quote } from './validate.js'

/** `--set` for something that is not there is a slip of the pen, not to be passed over. */
export function checkSets({ sets }: RuntimeOptions, plugins: readonly PluginReport[]): void {
  const known = ['http', 'info', 'watchdog', ...plugins.map(({ name }) => name)]
  for (const name of sets?.keys() ?? []) {
    if (!known.includes(name)) {
      throw new RtkError(
        'RTK_ERR_USAGE',
        `--set ${name}.…: this variant has no such plugin or section; it has ${known.join(', ')}`,
      )
    }
  }
}

/**
 * Puts the variant's initial values in force and stores `--change`. A name that no plugin has is a mistake; but where a
 * plugin could not be set up it may be that one's, and a station must not stay down for it. Nor must it for a disk that
 * takes no writes: `trouble` reports that.
 * @throws RTK_ERR_VARIANT, RTK_ERR_USAGE
 */
export async function presetChanges(
  { variant, changes = {}, log }: RuntimeOptions,
  config: ConfigRegistry,
  tables: Tables,
  plugins: readonly PluginReport[],
  trouble: (code: string, text: string) => void,
): Promise<void> {
  const absent = plugins.filter(({ state }) => state !== 'stopped').map(({ name }) => name)
  const tolerated = (name: string) => {
    if (absent.length === 0 || tables.parameters.has(name)) return false
    log.warn(
      { parameter: name, plugins: absent },
      `${name} belongs to no plugin that could be set up: kept until one has it`,
    )
    return true
  }
  for (const { name, message } of config.setInitial(variant.changes ?? {})) {
    if (tolerated(name)) continue
    throw new RtkError('RTK_ERR_VARIANT', `changes.${name} ${message}`, { place: ['changes', name] })
  }
  const values: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(changes)) {
    const record = tables.parameters.get(name)
    if (!record) {
      if (tolerated(name)) continue
      throw new RtkError('RTK_ERR_USAGE', `--change ${name}: no plugin of this variant has it`)
    }
    const value = parseBySchema(record.schema, text)
    if (value === undefined)
      throw new RtkError('RTK_ERR_USAGE', `--change ${name}: ${quote(text)} is of the wrong type`)
    values[name] = value
  }
  const problems = await config.preset(values).catch((error) => {
    if (!(error instanceof RtkError) || error.code !== 'RTK_ERR_STORE_WRITE') throw error
    const names = Object.keys(values).join(', ')
    trouble('change-not-stored', `--change of ${names}: ${error.message}; the values stored before are in force`)
    return []
  })
  for (const { name, message } of problems) throw new RtkError('RTK_ERR_USAGE', `--change ${name}: ${message}`)
}
