import { createReadStream, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../manual-clock.js'
import type { StationProcess } from '../process.js'

/** What a station holds at one moment, garbage collected. */
export interface Held {
  /** Objects on the heap by constructor, functions by name. */
  readonly objects: ReadonlyMap<string, number>
  /** What libuv has open, by kind. */
  readonly handles: Readonly<Record<string, number>>
  /** The most listeners that one emitter (or abort signal) of a class has. */
  readonly listeners: Readonly<Record<string, number>>
  /** Heap and buffers in use. The resident memory is of no use here: to write a heap down takes hundreds of megabytes, which stay. */
  readonly used_bytes: number
  /** Written to the disk since the start, and what it was when the heap was written down too. */
  readonly written_bytes: number
  readonly writtenAfter_bytes: number
  readonly logLines: number
  readonly at_ms: number
}

/**
 * Longer than a station needs to drop what it knows of handles that are closed (5 s), and for the callbacks of collected objects:
 * each comes in a task after the collection. Without the wait the heap has the leftovers of all requests since V8 last collected by
 * itself, two `WeakRef`s for each `fetch`: few or hundreds, as it happens.
 */
const settle_ms = [6_000, 200]

/**
 * Loaded into the station: on SIGUSR2 it collects garbage, notes what is open, counts listeners through the inspector, and writes
 * the heap down. In plain JavaScript: it comes before everything else.
 */
const preload = (folder: string) => `
const { writeFileSync, renameSync } = require('node:fs')
const { EventEmitter, getEventListeners } = require('node:events')
const { Session } = require('node:inspector')
const v8 = require('node:v8')
v8.setFlagsFromString('--expose-gc')
const collect = require('node:vm').runInNewContext('gc')
const { setTimeout: pause } = require('node:timers/promises')
globalThis.__soak = { EventEmitter, getEventListeners }
process.on('SIGUSR2', async () => {
  for (const ms of ${JSON.stringify(settle_ms)}) { collect(); await pause(ms) }
  collect()
  const { heapUsed, external } = process.memoryUsage()
  const handles = {}
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1
  const session = new Session()
  session.connect()
  const ask = (method, params) => { let answer; session.post(method, params, (error, value) => { if (error) throw new Error(error.message); answer = value }); return answer }
  const count = (prototype, text) => {
    const { result } = ask('Runtime.evaluate', { expression: prototype })
    const { objects } = ask('Runtime.queryObjects', { prototypeObjectId: result.objectId })
    const counted = ask('Runtime.callFunctionOn', { objectId: objects.objectId, returnByValue: true, functionDeclaration: text })
    return counted.result.value ?? {}
  }
  const most = \`function () {
    const most = {}
    for (const one of this) {
      let count = 0
      try { count = (COUNT) } catch { continue }
      const name = one.constructor?.name ?? '?'
      if (count > (most[name] ?? 0)) most[name] = count
    }
    return most
  }\`
  const listeners = {
    ...count('globalThis.__soak.EventEmitter.prototype', most.replace('COUNT', 'one.eventNames().reduce((sum, name) => sum + one.listenerCount(name), 0)')),
    ...count('AbortSignal.prototype', most.replace('COUNT', "globalThis.__soak.getEventListeners(one, 'abort').length")),
  }
  session.disconnect()
  v8.writeHeapSnapshot(${JSON.stringify(join(folder, 'heap'))})
  const file = ${JSON.stringify(join(folder, 'held.json'))}
  writeFileSync(file + '.new', JSON.stringify({ handles, listeners, used: heapUsed + external }))
  renameSync(file + '.new', file)
})
`

/** @returns arguments of Node for a station that \`held\` can look into */
export function lookInto(folder: string): string[] {
  const file = join(folder, 'look-into.cjs')
  writeFileSync(file, preload(folder))
  return ['--require', file]
}

/** Looks into a station that was started with \`lookInto\` of the same folder. It stands still for seconds meanwhile. */
export async function held(station: StationProcess, folder: string): Promise<Held> {
  const file = join(folder, 'held.json')
  rmSync(file, { force: true })
  const at_ms = performance.now()
  const logLines = station.output().split('\n').length
  const pid = station.child.pid as number
  const written = () => Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
  const written_bytes = written()
  station.child.kill('SIGUSR2')
  let text = ''
  await until(
    () => {
      try {
        text = readFileSync(file, 'utf8')
      } catch {
        // Not yet.
      }
      return text !== ''
    },
    'the station wrote its heap down',
    120_000,
  )
  const writtenAfter_bytes = written()
  const { handles, listeners, used: used_bytes } = JSON.parse(text)
  const objects = await countObjects(join(folder, 'heap'))
  return { objects, handles, listeners, used_bytes, written_bytes, writtenAfter_bytes, logLines, at_ms }
}

interface Snapshot {
  snapshot: { meta: { node_fields: string[]; node_types: [string[]]; edge_fields: string[]; edge_types: [string[]] } }
  nodes: number[]
  edges: number[]
  strings: string[]
}

/** By what was made: compiled code, hidden classes and strings come and go as V8 likes. */
const counted = new Set(['object', 'closure', 'native'])
/** So many properties tell plain objects apart. */
const mostProperties = 8

async function countObjects(file: string): Promise<Map<string, number>> {
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream(file)) chunks.push(chunk as Buffer)
  const { snapshot, nodes, edges, strings } = JSON.parse(Buffer.concat(chunks).toString()) as Snapshot
  const { node_fields: fields, node_types: types, edge_fields: edgeFields, edge_types: edgeTypes } = snapshot.meta
  const [typeAt, nameAt, edgesAt] = [fields.indexOf('type'), fields.indexOf('name'), fields.indexOf('edge_count')]
  const [edgeTypeAt, edgeNameAt] = [edgeFields.indexOf('type'), edgeFields.indexOf('name_or_index')]
  const property = edgeTypes[0].indexOf('property')
  const objects = new Map<string, number>()
  let edge = 0
  for (let at = 0; at < nodes.length; at += fields.length) {
    const firstEdge = edge
    edge += (nodes[at + edgesAt] as number) * edgeFields.length
    const type = types[0][nodes[at + typeAt] as number] as string
    if (!counted.has(type)) continue
    const name = (strings[nodes[at + nameAt] as number] as string).slice(0, 60)
    const names: string[] = []
    // All of them are called Object: what they have tells them apart.
    for (let e = firstEdge; type === 'object' && name === 'Object' && e < edge; e += edgeFields.length) {
      const own = edges[e + edgeTypeAt] === property && (strings[edges[e + edgeNameAt] as number] as string)
      if (own && own !== '__proto__' && names.length < mostProperties) names.push(own)
    }
    const key = names.length > 0 ? `${type} {${names.join(',')}}` : `${type} ${name}`
    objects.set(key, (objects.get(key) ?? 0) + 1)
  }
  return objects
}

/** More than this in the whole time, and more in each half, is growth: rings fill up in steps, one after another. */
const tolerated = { objects: 60, share: 0.03, listeners: 3, handles: 6 }

const grew = (first = 0, middle = 0, last = 0, least = 0) =>
  last - first > least && middle - first > least / 4 && last - middle > least / 4

/** What grows from moment to moment and has not stopped, in words with numbers. */
export function growthOf(first: Held, middle: Held, last: Held): string[] {
  const lines: [number, string][] = []
  const compare = (what: string, name: string, counts: [number?, number?, number?], least: number) => {
    if (grew(...counts, least))
      lines.push([(counts[2] ?? 0) - (counts[0] ?? 0), `${what} ${name}: ${counts.map((n) => n ?? 0).join(' → ')}`])
  }
  for (const [name, count] of last.objects) {
    const before = first.objects.get(name) ?? 0
    const least = Math.max(tolerated.objects, before * tolerated.share)
    compare('objects', name, [before, middle.objects.get(name), count], least)
  }
  for (const [name, count] of Object.entries(last.listeners)) {
    compare('listeners of one', name, [first.listeners[name], middle.listeners[name], count], tolerated.listeners)
  }
  for (const [name, count] of Object.entries(last.handles)) {
    compare('open', name, [first.handles[name], middle.handles[name], count], tolerated.handles)
  }
  return lines.sort(([one], [other]) => other - one).map(([, text]) => text)
}
