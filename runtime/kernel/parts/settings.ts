/** Settings from the variant and the command line, checked once every plugin is set up and before any is started. */
import type { PluginReport } from '../../../schemas/services.js'
import { RtkError, together } from '../../errors.js'
import { didYouMean } from '../../platform/nearest.js'
import type { Store } from '../../platform/store/store.js'
import { parseBySchema, problemOf, quote } from '../../platform/validate.js'
import type { BootKnowledge } from '../plugins/boot.js'
import type { ConfigRegistry } from '../registries/config.js'
import type { RuntimeOptions } from '../runtime-options.js'
import type { Tables } from '../tables.js'
import type { Foundation } from './foundation.js'

/** Troubles of the store with which every change is refused. */
const unwritable = ['store-unwritable', 'store-unreadable']

/** `--set` for something that is not there is a slip of the pen, not to be passed over. */
function wrongSets({ sets, variant }: RuntimeOptions, plugins: readonly PluginReport[]): RtkError[] {
  const standby = Object.keys(variant.standby ?? {})
  const known = ['http', 'net', 'info', 'watchdog', 'trial', ...plugins.map(({ name }) => name), ...standby]
  return [...(sets?.keys() ?? [])]
    .filter((name) => !known.includes(name))
    .map((name) => {
      const like = didYouMean(name, known)
      const text = `--set ${name}.…: this variant has no such plugin or section${like}; it has ${known.join(', ')}`
      return new RtkError('RTK_ERR_USAGE', text)
    })
}

/**
 * Checks all settings of the variant and the command line, makes the variant's initial values live and stores
 * `--change`. A name that no plugin has is a mistake. If the parameters of some plugin cannot be known, the name may
 * belong to it, and the station must not stay down for it. The same applies to a disk that takes no
 * writes: this is reported, and `--change` is stored later.
 * @throws RTK_ERR_VARIANT, RTK_ERR_PLUGIN_OPTIONS, RTK_ERR_USAGE: every mistake at once
 */
export async function applySettings(
  options: RuntimeOptions,
  config: ConfigRegistry,
  tables: Tables,
  plugins: readonly PluginReport[],
  { mistakes: before, later, unknown }: BootKnowledge,
  { errors, store }: Pick<Foundation, 'errors' | 'store'>,
): Promise<void> {
  const { variant, changes = {}, log } = options
  const mistakes = [...before]
  // Where a plugin is not known at all its sections are not either.
  if (before.length === 0) mistakes.push(...wrongSets(options, plugins))
  const names = [...tables.parameters.keys(), ...later]
  const tolerated = (name: string) => {
    if (tables.parameters.has(name)) return false
    if (later.has(name)) return true
    if (unknown.length === 0) return false
    log.warn(
      { parameter: name, plugins: unknown },
      `${name} belongs to no plugin that could be set up: kept until one has it`,
    )
    return true
  }
  for (const { name, message } of config.setInitial(variant.changes ?? {})) {
    if (tolerated(name)) continue
    const like = tables.parameters.has(name) ? '' : didYouMean(name, names)
    const text = `changes.${name} ${message}${like}`
    mistakes.push(new RtkError('RTK_ERR_VARIANT', text, { place: ['changes', name] }))
  }
  const values: Record<string, unknown> = {}
  const usage = (text: string) => void mistakes.push(new RtkError('RTK_ERR_USAGE', text))
  for (const [name, text] of Object.entries(changes)) {
    const record = tables.parameters.get(name)
    if (!record) {
      if (!tolerated(name)) usage(`--change ${name}: no plugin of this variant has it${didYouMean(name, names)}`)
      continue
    }
    const value = parseBySchema(record.schema, text)
    if (value === undefined)
      usage(`--change ${name}: ${problemOf(record.schema, text)?.message ?? 'is not allowed'}, not ${quote(text)}`)
    else values[name] = value
  }
  for (const { name, message } of config.wrongPresets(values)) usage(`--change ${name}: ${message}`)
  if (mistakes.length > 0) throw together(mistakes)
  await config.preset(values).catch((error) => {
    if (!(error instanceof RtkError) || error.code !== 'RTK_ERR_STORE_WRITE') throw error
    const names = Object.keys(values).join(', ')
    errors.while('change-not-stored', { names, reason: error.message })
    presetLater(config, values, store, () => void errors.while('change-not-stored', false))
  })
}

/** Stores and applies the values once the store takes writes. */
function presetLater(
  config: ConfigRegistry,
  values: Record<string, unknown>,
  store: Pick<Store, 'troubles' | 'onTroubles'>,
  done: () => void,
): void {
  let isWaiting = true
  store.onTroubles(() => {
    if (!isWaiting || store.troubles.some(({ code }) => unwritable.includes(code))) return
    isWaiting = false
    void config.change(values, { source: 'plugin' }).then(({ result }) => {
      if (result === 'ok') done()
      else isWaiting = true
    })
  })
}
