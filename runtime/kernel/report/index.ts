/** The support report: one archive of everything a helper needs, without secrets. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { readPlain, readRecord } from '../../platform/files/plain-file.js'
import { paddingOf, ustarHeader } from '../../platform/files/ustar.js'
import { withoutSecrets } from '../../platform/log/redact.js'
import { isProtected, type Store } from '../../platform/store/store.js'
import { systemFacts } from './facts.js'
import { hidden, Secrets } from './secrets.js'

export const largestReport_bytes = 5 * 1_048_576
/** Of texts before they are packed: the newest is kept. */
const mostLog_bytes = 4 * 1_048_576
const mostRecord_bytes = 16 * 1_048_576
const record_ms = 7 * 86_400_000

/** Settings that are not secret are known only where their plugins run. */
export interface LiveStation {
  readonly version: string
  readonly variant: { readonly name: string; readonly hardware: string }
  /** Everything that was given at the start: options may hold secrets too. */
  readonly given: unknown
  readonly document: unknown
  readonly plugins: unknown
  isSecret(parameter: string): boolean
  /** Parameters shown with their value. */
  isShown(parameter: string): boolean
}

export interface ReportSources {
  /** The data folder. */
  readonly data: string
  /** Undefined: it is held by a service that does not answer, or cannot be read. */
  readonly store: Pick<Store, 'namespaces' | 'entries'> | undefined
  /** Undefined: the service does not run. */
  readonly live: LiveStation | undefined
  /** Of the program that makes the report. */
  readonly version: string
}

/** @returns a tar.gz of at most `largestReport_bytes` */
export async function makeReport(sources: ReportSources): Promise<Buffer> {
  const { data, store, live } = sources
  const secrets = new Secrets()
  const settings = store
    ? await settingsOf(store, live, secrets)
    : 'not readable: the data folder is in use by a service that does not answer'
  secrets.addNamed(live?.given)
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
  const about = {
    version: live?.version ?? sources.version,
    running: live !== undefined,
    hidden: `passwords, keys and other protected values are replaced by ${hidden}`,
    ...(live && { variant: live.variant }),
  }
  const folder = join(data, 'files')
  const texts: [path: string, text: string][] = [
    ['about.json', json(about)],
    ['system.json', json(await systemFacts(data))],
    ['settings.json', json(settings)],
    ['run.json', await textIn(data, 'run.json')],
    ['stalls.json', await textIn(data, 'stalls.json')],
    ['log.jsonl', tail(await logsIn(join(folder, 'log', 'saved')), mostLog_bytes)],
    ...(live
      ? (
          [
            ['document.json', json(withoutSecrets(live.document as object))],
            ['plugins.json', json(live.plugins)],
          ] as const
        ).map(([path, text]) => [path, text] as [string, string])
      : []),
  ]
  const record = tail(await recordIn(join(folder, 'record', 'main')), mostRecord_bytes)
  for (let share = 1; ; share /= 2) {
    const kept = tail(record, Math.floor(record.length * share))
    const all = [...texts, ['record.jsonl', kept] as const].filter(([, text]) => text !== '')
    const packed = await pack(all.map(([path, text]) => [path, secrets.hide(text)]))
    if (packed.length <= largestReport_bytes || kept === '') return packed
  }
}

/** The stored settings without the protected namespaces; text entered by a person is replaced by its length. */
async function settingsOf(
  store: Pick<Store, 'namespaces' | 'entries'>,
  live: LiveStation | undefined,
  secrets: Secrets,
): Promise<Record<string, unknown>> {
  const shown: Record<string, unknown> = {}
  for (const namespace of (await store.namespaces()).sort((a, b) => a.localeCompare(b))) {
    const entries = await store.entries(namespace)
    if (isProtected(namespace)) {
      secrets.addProtected(entries)
      continue
    }
    const values = Object.entries(entries).map(([name, value]) => {
      if (namespace !== 'config') return [name, masked(value)]
      const isKnown = live?.isShown(name) === true
      // Without its plugin the value may be a secret: it is treated as one.
      if (!isKnown || live?.isSecret(name)) secrets.addSetting(value)
      return [name, isKnown ? value : masked(value)]
    })
    secrets.addNamed(entries)
    shown[namespace] = withoutSecrets(Object.fromEntries(values) as object)
  }
  return shown
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? '' : `${hidden} (${value.length} characters)`
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, masked(inner)]))
}

const textIn = (folder: string, name: string) => readRecord(join(folder, name)).catch(() => '')

async function namesIn(folder: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(folder).catch(() => [] as string[])
  return names.filter((name) => pattern.test(name)).sort()
}

async function logsIn(folder: string): Promise<string> {
  const runs = (await namesIn(folder, /^run-\d+\.log\.gz$/)).map(async (name) => {
    try {
      const bytes = await promisify(gunzip)(await readPlain(join(folder, name), mostLog_bytes), {
        maxOutputLength: mostLog_bytes,
      })
      return bytes.toString('utf8')
    } catch (error) {
      return `${JSON.stringify({ level: 40, msg: `${name} cannot be read: ${(error as Error).message}` })}\n`
    }
  })
  return (await Promise.all(runs)).join('')
}

/** The flight record of the last week, its checksums left out. */
async function recordIn(folder: string): Promise<string> {
  const lines: string[] = []
  for (const name of await namesIn(folder, /^\d+\.record$/)) {
    for (const line of (await textIn(folder, name)).split('\n')) if (line.length > 9) lines.push(line.slice(9))
  }
  const timeOf = (line: string) => Number(/^\{"t":(\d+)/.exec(line)?.[1] ?? 0)
  // The newest entry is now: a machine without a clock knows no other.
  const newest_ms = lines.reduce((most, line) => Math.max(most, timeOf(line)), 0)
  return lines.flatMap((line) => (timeOf(line) >= newest_ms - record_ms ? [`${line}\n`] : [])).join('')
}

/** The last whole lines within a number of characters. */
function tail(text: string, most: number): string {
  if (text.length <= most) return text
  const begin = text.indexOf('\n', text.length - most)
  return begin < 0 ? '' : text.slice(begin + 1)
}

async function pack(files: readonly (readonly [path: string, text: string])[]): Promise<Buffer> {
  const blocks = files.flatMap(([path, text]) => {
    const bytes = Buffer.from(text)
    return [ustarHeader(`rtk-base-report/${path}`, bytes.length), bytes, Buffer.alloc(paddingOf(bytes.length))]
  })
  return promisify(gzip)(Buffer.concat([...blocks, Buffer.alloc(1_024)]))
}
