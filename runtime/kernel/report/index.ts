/** The support report: one archive of everything a helper needs, without secrets. */
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { messageOf } from '../../errors.js'
import { readRecord } from '../../platform/files/plain-file.js'
import { paddingOf, ustarHeader } from '../../platform/files/ustar.js'
import { withoutSecrets } from '../../platform/log/redact.js'
import { isProtected, type Store } from '../../platform/store/store.js'
import type { ReportTexts } from '../../plugin.js'
import { systemFacts } from './facts.js'
import { hidden, Secrets } from './secrets.js'

export const largestReport_bytes = 5 * 1_048_576
/** The longest text of a plugin before it is packed: the newest is kept. */
const mostText_bytes = 16 * 1_048_576
const fileRule = /^[a-z0-9-]{1,40}\.(jsonl?|txt)$/

/** A plugin that adds to the report: its `report`, with its arguments. */
export interface ReportingPlugin {
  readonly name: string
  report(): ReportTexts | Promise<ReportTexts>
}

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
  readonly plugins: readonly ReportingPlugin[]
  /** The version of the program that makes the report. */
  readonly version: string
}

/** @returns a tar.gz of at most `largestReport_bytes` */
export async function makeReport(sources: ReportSources): Promise<Buffer> {
  const { data, plugins, store, live } = sources
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
  const texts: [path: string, text: string][] = [
    ['about.json', json(about)],
    ['system.json', json(await systemFacts(data))],
    ['settings.json', json(settings)],
    ['run.json', await textIn(data, 'run.json')],
  ]
  if (live)
    texts.push(['document.json', json(withoutSecrets(live.document as object))], ['plugins.json', json(live.plugins)])
  const ofPlugins = await textsOf(plugins)
  for (;;) {
    // A plugin's text does not take the place of the runtime's own.
    const all = [...new Map([...ofPlugins, ...texts])].filter(([, text]) => text !== '')
    const packed = await pack(all.map(([path, text]) => [path, secrets.hide(text)]))
    const longest = [...ofPlugins].sort(([, one], [, other]) => other.length - one.length)[0]
    if (packed.length <= largestReport_bytes || longest === undefined || longest[1] === '') return packed
    ofPlugins.set(longest[0], tail(longest[1], Math.floor(longest[1].length / 2)))
  }
}

/** Texts that the plugins add. One that fails costs its own part. */
async function textsOf(plugins: readonly ReportingPlugin[]): Promise<Map<string, string>> {
  const all = await Promise.all(
    plugins.map(async ({ name, report }) => {
      try {
        const texts = Object.entries(await report())
        return texts.filter(([file, text]) => fileRule.test(file) && typeof text === 'string')
      } catch (error) {
        return [[`${name}.txt`, `not made: ${messageOf(error)}\n`] as [string, string]]
      }
    }),
  )
  return new Map(all.flat().map(([file, text]) => [file, tail(text, mostText_bytes)]))
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
