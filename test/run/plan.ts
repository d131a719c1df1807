/** Which test files share a process, and in which order the processes start. */
import { readdirSync } from 'node:fs'

export interface Group {
  readonly name: string
  readonly files: readonly string[]
  /** For programs that it started, most of its time. */
  readonly waits: boolean
}

/** Each longer than most folders, the longest first: they begin the run, so that none of them is left over at its end. */
const longest = [
  'peers/fleet',
  'plugins/fleet/net',
  'plugins/fleet/rollout',
  'end-to-end/station',
  'end-to-end/command-line',
  'plugins/receivers/receiver-families',
  'plugins/reference/raw/push',
  'gnss/baseline',
  'plugins/reference/neighbours',
  'plugins/fleet/registry',
]

/** Their files start stations and other programs, and wait for them: with all that the gate runs, side by side. */
const waiting = ['end-to-end', 'peers', 'mutants', 'bench']
const isWhole = process.env.CI === 'true' || process.env.RTK_BASE_TEST === 'machine'

/** The same of a whole run, which waits more than it computes. */
const longestOfAll = [
  'peers/browser-stories',
  'end-to-end/package',
  'peers/browser',
  'end-to-end/update',
  'peers/ntrip',
  'end-to-end/receiver-kill',
  'peers/browser-fleet',
]

/** All files below `build/test`, without `.test.js`, sorted. */
export function testFiles(): string[] {
  const ending = '.test.js'
  return readdirSync('build/test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .sort()
}

/**
 * The longest files have a process each; the others share one by their folder, so that a file always has the same
 * neighbours.
 */
export function groupsOf(files: readonly string[]): Group[] {
  const groups = new Map<string, string[]>()
  for (const file of files) {
    const folder = file.split('/').slice(0, -1).join('/')
    const isAlone = longest.includes(file) || (isWhole && waiting.includes(folder))
    const name = isAlone ? file : folder
    groups.set(name, [...(groups.get(name) ?? []), file])
  }
  const first = isWhole ? [...longestOfAll, ...longest] : longest
  const place = (name: string) => {
    const found = first.indexOf(name)
    return found < 0 ? first.length : found
  }
  return [...groups]
    .map(([name, files]) => ({ name, files, waits: waiting.some((folder) => `${name}/`.startsWith(`${folder}/`)) }))
    .sort((one, other) => place(one.name) - place(other.name) || other.files.length - one.files.length)
}
