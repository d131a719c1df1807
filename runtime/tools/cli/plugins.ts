import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { PluginReport } from '../../../schemas/services.js'
import { RtkError } from '../../errors.js'
import { isPath } from '../../loader/source.js'
import { didYouMean } from '../../platform/nearest.js'
import { ControlClient } from '../control/client.js'
import { parseArgs } from './parse-args.js'

export const pluginsHelp = `rtk-base plugins [list | load P | unload P | reload P] [--data DIR] [--json]

  list       every plugin with its state, version and reason
  load P     adds a plugin: a shipped one by name, ./path/to/plugin, or an npm package
  unload P   removes a plugin; everything it registered is undone
  reload P   loads its code again; if the new version fails, the old one keeps running
  --data     data folder of the running service (default: ./data)
  --json     the list as JSON
`

const actions = ['list', 'load', 'unload', 'reload']
/** Dependents are stopped and started one after the other, each with a limit of its own. */
const actionLimit_s = 300

function table(rows: readonly PluginReport[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length), 6)
  const line = ({ name, version, state, reason }: PluginReport) =>
    `${name.padEnd(width)}  ${state.padEnd(11)}  ${version.padEnd(8)}  ${reason}`.trimEnd()
  return `${rows.map(line).join('\n')}\n`
}

/** A folder that is there was probably meant, where a name without `./` found nothing. */
function withPath(error: unknown, plugin: string): unknown {
  const meant = error instanceof RtkError && error.code === 'RTK_ERR_PLUGIN_NOT_FOUND'
  if (!meant || isPath(plugin) || !existsSync(plugin)) return error
  return new RtkError(error.code, `${error.message}; did you mean "./${plugin}"?`, { cause: error })
}

export async function pluginsCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { data: { type: 'string', default: 'data' }, json: { type: 'boolean', default: false } },
  })
  const [action = 'list', plugin, ...more] = positionals
  if (!actions.includes(action) || more.length > 0) {
    const like = actions.includes(action) ? '' : didYouMean(action, actions)
    throw new RtkError(
      'RTK_ERR_USAGE',
      `plugins takes list, load P, unload P or reload P, not "${positionals.join(' ')}"${like}`,
    )
  }
  if (action !== 'list' && !plugin) throw new RtkError('RTK_ERR_USAGE', `plugins ${action} takes a plugin`)
  const client = await ControlClient.open(resolve(values.data))
  try {
    if (action !== 'list') {
      // The service has another working folder: a path is made absolute here.
      const named = action === 'load' && isPath(plugin) ? resolve(plugin) : plugin
      const report = await client.call<PluginReport | null>(action, { plugin: named }, actionLimit_s).catch((error) => {
        throw action === 'load' ? withPath(error, plugin) : error
      })
      process.stdout.write(
        values.json ? `${JSON.stringify(report)}\n` : report ? table([report]) : `${plugin} is unloaded\n`,
      )
      return 0
    }
    const rows = await client.call<PluginReport[]>('list')
    process.stdout.write(values.json ? `${JSON.stringify(rows, null, 2)}\n` : table(rows))
    return 0
  } finally {
    client.close()
  }
}
