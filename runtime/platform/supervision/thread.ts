/**
 * The watchdog's thread. It needs nothing from the main loop. It watches the beat, reads the stack of a blocked main
 * thread through the inspector, writes its lines to the standard output itself, and ends a process that does not
 * answer.
 */
import { readFileSync, writeSync } from 'node:fs'
import { Session } from 'node:inspector'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { replaceFileSync } from '../files/durable-file.js'
import { journalLine, type LogForm } from '../log/journal.js'
import { ownerSymbol, readActivity } from './activity.js'
import type { Run, Stall } from './run-record.js'
import { withStall } from './stalls.js'

/** The start parameters of the thread. */
export interface ThreadData {
  memory: Int32Array
  warn_ms: number
  limit_ms: number
  /** Where the end of the process is written down. */
  record: string
  form: LogForm
}

/** From the main thread: a plugin's number, the files by which its code is known, or what the record holds now. */
export type ToThread = { plugin: string; number: number } | { plugin: string; files: string[] } | { run: Run }

/** To the main thread, once it turns again. */
export interface StallEnded {
  plugin: string
  phase: string
  place: string
  blocked_s: number
}

const { memory, warn_ms, limit_ms, record, form } = workerData as ThreadData
let run: Run = { boot: '', started_ms: 0, stalls: [] }
const look_ms = 250
/** A thread that gives no stack in this time is in native code. Every script it has loaded is announced first. */
const stackLimit_ms = 3_000
/** A look that comes this late was not held up by the main thread: the machine slept, or this thread was not let run. */
const longestLook_ms = 3 * look_ms

const numbers = new Map<number, string>()
const files = new Map<string, string>()
parentPort?.on('message', (message: ToThread) => {
  if ('number' in message) numbers.set(message.number, message.plugin)
  else if ('run' in message) run = message.run
  else for (const file of message.files) files.set(file, message.plugin)
})

interface Frame {
  name: string
  /** The file that was evaluated. */
  file: string
  /** `file:line:column`, of the source where a map is at hand. */
  place: string
}

/** Processor time of the main thread, and whether it runs or would run if the kernel let it (Linux, proc(5): task/TID/stat and schedstat). */
function mainThread(): { ran_ms: number; isReady: boolean } {
  const read = (file: string) => readFileSync(`/proc/self/task/${process.pid}/${file}`, 'latin1')
  try {
    const [state] = read('stat').split(') ').at(-1) ?? ''
    return { ran_ms: Number.parseInt(read('schedstat'), 10) / 1e6, isReady: state === 'R' }
  } catch {
    return { ran_ms: Number.NaN, isReady: false }
  }
}

let beats = -1
let still_ms = 0
/** Processor time of the main thread at the last look without a beat. */
let ranBefore_ms = Number.NaN
let lookedAt_ms = performance.now()
let sampled: Frame[] = []
/** The plugin of the asynchronous context that was stopped; '' for the runtime's own. */
let sampledOwner = ''
/** The plugin that exceeds the limit, recorded at once: after the block a different plugin may be running. */
let blocker: Culprit | undefined

setInterval(() => {
  const now_ms = performance.now()
  const step_ms = Math.min(now_ms - lookedAt_ms, longestLook_ms)
  lookedAt_ms = now_ms
  const activity = readActivity(memory)
  if (activity.beats !== beats) {
    if (blocker) ended(blocker)
    beats = activity.beats
    still_ms = 0
    ranBefore_ms = Number.NaN
    sampled = []
    sampledOwner = ''
    blocker = undefined
    return
  }
  const before_ms = still_ms
  const { ran_ms, isReady } = mainThread()
  const used_ms = ran_ms - ranBefore_ms
  // On a machine that has no time for it, the main thread is late without blocking anything.
  still_ms += isReady && used_ms < step_ms ? used_ms : step_ms
  ranBefore_ms = ran_ms
  if (before_ms < warn_ms && still_ms >= warn_ms) {
    blocker = culprit()
    sample(report)
  }
  // The stack is taken again shortly before the end: the record holds the newest one.
  const lastLook_ms = limit_ms - stackLimit_ms
  if (limit_ms > 0 && before_ms < lastLook_ms && still_ms >= lastLook_ms) sample(() => {})
  if (limit_ms > 0 && still_ms >= limit_ms) end()
}, look_ms)

type Culprit = Omit<Stall, 'at_ms' | 'blocked_s'>

/** The blocking plugin, as far as known now. */
function culprit(): Culprit {
  const { number, phase } = readActivity(memory)
  const own = sampled.find(({ file }) => files.has(file))
  return {
    plugin: own ? (files.get(own.file) as string) : numbers.get(number) || sampledOwner,
    phase,
    place: (own ?? sampled[0])?.place ?? '',
    stack: sampled.slice(0, 64).map(({ name, place }) => `${name || '(anonymous)'} ${place}`),
  }
}

function textOf({ plugin, phase, place }: Culprit): string {
  const who = plugin ? `plugin ${plugin}` : 'the service'
  const where = place ? ` at ${place}` : ' in native code'
  return `${who} blocks the event loop${phase ? ` in ${phase}` : ''}${where}`
}

const endOf = ({ plugin, place }: Culprit): string =>
  `${plugin ? `plugin ${plugin}` : 'something'} blocked it for ${Math.round(still_ms / 1000)} s${place ? ` at ${place}` : ''}`

function report(): void {
  // It resumed while its stack was requested: its end is reported, without a place.
  if (still_ms < warn_ms) return
  const found = culprit()
  blocker = found
  const then = limit_ms > 0 ? `the process is ended at ${limit_ms / 1000} s` : 'nothing ends it'
  log(50, `${textOf(found)} for ${(still_ms / 1000).toFixed(1)} s: nothing else runs meanwhile; ${then}`, found)
}

function ended({ plugin, phase, place }: Culprit): void {
  const message: StallEnded = { plugin, phase, place, blocked_s: still_ms / 1000 }
  parentPort?.postMessage(message)
}

function end(): void {
  const found = culprit()
  try {
    const at_ms = Date.now()
    const stall: Stall = { ...found, at_ms, blocked_s: still_ms / 1000 }
    const text = `${endOf(found)}, so the watchdog ended it`
    const now: Run = {
      ...run,
      end: { how: 'blocked', text, at_ms, stack: found.stack },
      stalls: withStall(run.stalls, stall),
    }
    // Not by its `StateFile`: this thread would need 300 kB of code for the schema.
    replaceFileSync(record, JSON.stringify(now))
  } catch (error) {
    log(50, `the stall could not be written down: ${(error as Error).message}`, found)
  }
  const text = `${textOf(found)} for ${Math.round(still_ms / 1000)} s: the process is ended to be started again`
  log(60, text, found)
  process.kill(process.pid, 'SIGKILL')
}

/**
 * Takes the stack of the main thread. While that is in native code `done` is called without one; again with the stack when
 * it comes: native code has returned, or the machine was too busy.
 */
function sample(done: () => void): void {
  const session = new Session()
  const late = setTimeout(done, stackLimit_ms)
  session.connectToMainThread()
  const urls = new Map<string, string>()
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url))
  session.on('Debugger.paused', ({ params }) => {
    sampled = params.callFrames
      .map(({ functionName, location: { scriptId, lineNumber, columnNumber = 0 } }) =>
        frameOf(functionName, urls.get(scriptId) ?? '', lineNumber, columnNumber),
      )
      .filter(({ file }) => file !== '')
    const goOn = () => {
      session.post('Debugger.resume')
      session.post('Debugger.disable')
      session.disconnect()
      clearTimeout(late)
      done()
    }
    const [innermost] = params.callFrames
    if (innermost === undefined) return goOn()
    const asked = { callFrameId: innermost.callFrameId, expression: askOwner, returnByValue: true, silent: true }
    session.post('Debugger.evaluateOnCallFrame', asked, (_error, answer?: { result?: { value?: unknown } }) => {
      const owner = answer?.result?.value
      sampledOwner = typeof owner === 'string' ? owner : ''
      goOn()
    })
  })
  session.post('Debugger.enable')
  session.post('Debugger.pause')
}

const askOwner = `globalThis[Symbol.for('${ownerSymbol}')]?.()`

const maps = new Map<string, SourceMap | undefined>()

function frameOf(name: string, url: string, line: number, column: number): Frame {
  if (url.startsWith('node:') || url === '') return { name, file: '', place: '' }
  const file = url.startsWith('file:') ? fileURLToPath(url) : url
  const source = mapOf(file)?.findEntry(line, column)
  if (source && 'originalSource' in source) {
    const original = source.originalSource.startsWith('file:')
      ? fileURLToPath(source.originalSource)
      : source.originalSource
    return { name, file, place: `${original}:${source.originalLine + 1}:${source.originalColumn + 1}` }
  }
  return { name, file, place: `${file}:${line + 1}:${column + 1}` }
}

/** The source map inside a bundle. */
function mapOf(file: string): SourceMap | undefined {
  if (maps.has(file)) return maps.get(file)
  let map: SourceMap | undefined
  try {
    const inline = /\n\/\/# sourceMappingURL=data:application\/json;base64,([A-Za-z0-9+/=]+)\s*$/.exec(
      readFileSync(file, 'utf8'),
    )
    if (inline) map = new SourceMap(resolved(JSON.parse(Buffer.from(inline[1] as string, 'base64').toString()), file))
  } catch {
    // Its own lines are named then.
  }
  maps.set(file, map)
  return map
}

/** Source paths in a map are relative to its file. */
function resolved<M extends { sources: string[] }>(map: M, file: string): M {
  return { ...map, sources: map.sources.map((source) => new URL(source, `file://${file}`).href) }
}

function log(level: 50 | 60, msg: string, found: Culprit): void {
  const { plugin, stack } = found
  const owner = plugin && { plugin }
  const lines = {
    text: () =>
      `[${new Date().toTimeString().slice(0, 8)}] ${level === 60 ? 'FATAL' : 'ERROR'}: ${withStack(msg, stack)}\n`,
    json: () => `${JSON.stringify({ level, time: Date.now(), ...owner, stack, msg })}\n`,
    journal: () => journalLine(JSON.stringify({ level, ...owner, msg: withStack(msg, stack) })),
  }
  try {
    writeSync(1, lines[form]())
  } catch {
    // The reader is gone, or its disk is full.
  }
}

const withStack = (msg: string, stack: readonly string[]): string => [msg, ...stack].join('\n    at ')
