import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { messageOf, RtkError } from '../../errors.js'
import { hostTable } from '../../host-table.js'
import { makeReport, type ReportingPlugin } from '../../kernel/report/index.js'
import { readCatalogue } from '../../loader/catalogue.js'
import { Loader } from '../../loader/load.js'
import { DataFiles } from '../../platform/files/data-files.js'
import { disk } from '../../platform/files/disk.js'
import { diskRemedy, replaceFile } from '../../platform/files/durable-file.js'
import { createLogger } from '../../platform/log/log.js'
import { readRelease, readyFolder, shippedPlugins } from '../../platform/release.js'
import { openStore, type Store } from '../../platform/store/store.js'
import { ControlClient } from '../control/client.js'
import { parseArgs } from './parse-args.js'

export const reportHelp = `rtk-base report [--data DIR] [--out FILE]

Writes an archive for support: version, settings without secrets, status document, plugins, errors, logs, facts about
the machine, and the flight record (the recorded history of the station) of the last 7 days. At most 5 MB. The service
need not be running.

  --data     data folder (default: ./data)
  --out      the archive (default: rtk-base-report.tar.gz)
`

export async function reportCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string', default: 'data' },
      out: { type: 'string', default: 'rtk-base-report.tar.gz' },
    },
  })
  const data = resolve(values.data)
  if (!statSync(data, { throwIfNoEntry: false })?.isDirectory())
    throw new RtkError('RTK_ERR_USAGE', `${data}: no such data folder; name it with --data`)
  const report = (await ofService(data)) ?? (await ofFiles(data))
  const out = resolve(values.out)
  await replaceFile(out, report).catch((error) => {
    throw new RtkError(
      'RTK_ERR_REPORT',
      `${out} cannot be written (${messageOf(error)}): ${diskRemedy(error, dirname(out))}`,
      {
        cause: error,
      },
    )
  })
  process.stdout.write(`${out}  ${Math.ceil(report.length / 1024)} kB\n`)
  return 0
}

/** The running service makes it, as it alone knows how things are. Undefined: none answers. */
async function ofService(data: string): Promise<Buffer | undefined> {
  const client = await ControlClient.open(data).catch(() => undefined)
  if (!client) return undefined
  try {
    const { file } = await client.call<{ file: string }>('report')
    const report = await disk.readFile(file)
    await disk.rm(file, { force: true })
    return report
  } catch {
    return undefined
  } finally {
    client.close()
  }
}

/** The shipped plugins that have something to add; those of others are asked only while they run. */
async function reporting(data: string): Promise<ReportingPlugin[]> {
  const files = new DataFiles(data)
  const loader = new Loader({
    host: hostTable,
    builtIn: shippedPlugins(),
    base: '.',
    cache: join(data, 'plugins'),
    ready: readyFolder(),
  })
  const names = Object.entries(readCatalogue()).flatMap(([name, { reports }]) => (reports ? [name] : []))
  return names.map((name) => ({
    name,
    async report() {
      const { definition } = await loader.load(name)
      return definition.report?.((of) => files.path(name, of), undefined) ?? {}
    },
  }))
}

async function ofFiles(data: string): Promise<Buffer> {
  let store: Store | undefined
  if (existsSync(join(data, 'store')))
    store = await openStore(join(data, 'store'), createLogger({ level: 'silent' })).catch(() => undefined)
  try {
    return await makeReport({
      data,
      store,
      plugins: await reporting(data),
      live: undefined,
      version: readRelease().version,
    })
  } finally {
    await store?.close()
  }
}
