import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { Mutex } from 'async-mutex'
import type { FleetQuery } from 'rtk-base/services'
import { type Engine, type EngineEvents, quoted } from './engine.js'

/** A query takes milliseconds. Without space on the disk, its thread can loop for ever. */
const answer_ms = 60_000
/** The first start makes the tables of PostgreSQL; after a crash it repeats what was not in them yet. */
const open_ms = 300_000

const packageName = '@electric-sql/pglite'

/**
 * Runs in a thread of its own: a query blocks its thread, and the first start takes seconds. Its time is that of the service, told with
 * each request.
 */
const program = `
const { parentPort, workerData } = require('node:worker_threads')
const { PGlite } = require(workerData.code)
const database = new PGlite(workerData.folder)
const run = {
  query: async ([sql, values]) => (await database.query(sql, values)).rows,
  listen: ([channel]) => database.listen(channel, (payload) => parentPort.postMessage({ channel, payload })).then(() => undefined),
  unlisten: ([channel]) => database.unlisten(channel).then(() => undefined),
  close: () => database.close(),
}
parentPort.on('message', ({ id, what, given, now_ms }) => {
  Date.now = () => now_ms
  run[what](given).then(
    (result) => parentPort.postMessage({ id, result }),
    (error) => parentPort.postMessage({ id, error: { message: error.message, code: error.code } }),
  )
})
database.waitReady.then(
  () => parentPort.postMessage({ id: 0 }),
  (error) => parentPort.postMessage({ id: 0, error: { message: error.message } }),
)
`

/** PGlite is an optional package of rtk-base with files beside its code: so it is loaded from there, never bundled. */
function codeOfPackage(): string {
  const require = createRequire(realpathSync(process.argv[1] ?? __filename))
  try {
    return require.resolve(packageName)
  } catch {
    throw new Error(`the embedded database is not installed: npm install ${packageName}, or set fleet.database`)
  }
}

type Answer = { id: number; result?: unknown; error?: { message: string; code?: string } }
type Notice = { channel: string; payload: string }

/**
 * PGlite: PostgreSQL inside the service, for one desk. Only this process can use it. It survives the end of the process, but not every
 * power cut, as it does not wait for the disk.
 */
export async function openEmbedded(
  folder: string,
  events: EngineEvents,
  clock: { now(): number },
  limits = { answer_ms, open_ms },
): Promise<Engine> {
  const worker = new Worker(program, { eval: true, workerData: { folder, code: codeOfPackage() } })
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>()
  /** There is one connection: a transaction keeps everything else waiting. */
  const turn = new Mutex()
  let nextId = 1
  let isClosing = false
  /** Why the thread is gone: it answers nothing any more. */
  let over: string | undefined
  const ended = (reason: string) => {
    const isFirst = over === undefined
    over ??= reason
    for (const { reject } of waiting.values()) reject(new Error(reason))
    waiting.clear()
    if (isFirst && !isClosing) events.ended(reason)
  }
  worker.on('message', (message: Answer | Notice) => {
    if ('channel' in message) {
      events.notified(message.channel.replaceAll('"', ''), message.payload)
      return
    }
    const { resolve, reject } = waiting.get(message.id) ?? {}
    waiting.delete(message.id)
    if (message.error) reject?.(Object.assign(new Error(message.error.message), { code: message.error.code }))
    else resolve?.(message.result)
  })
  worker.on('error', (error) => ended(`the embedded database failed: ${error.message}`))
  worker.on('exit', () => ended('the embedded database ended'))
  const answerOf = async <T>(id: number, most_ms: number): Promise<T> => {
    // Of the machine, as in `pg`: the thread may hang, whatever the clock of the service says.
    const late = setTimeout(() => {
      ended(`the embedded database did not answer in ${most_ms / 1_000} s: free space on its disk`)
      void worker.terminate()
    }, most_ms)
    late.unref()
    try {
      return await new Promise<T>((resolve, reject) =>
        waiting.set(id, { resolve: resolve as (result: unknown) => void, reject }),
      )
    } finally {
      clearTimeout(late)
    }
  }
  const ask = <T>(what: 'query' | 'listen' | 'unlisten' | 'close', ...given: unknown[]) => {
    if (over !== undefined) return Promise.reject<T>(new Error(over))
    const id = nextId++
    worker.postMessage({ id, what, given, now_ms: clock.now() })
    return answerOf<T>(id, limits.answer_ms)
  }
  await answerOf(0, limits.open_ms).catch(async (error: Error) => {
    isClosing = true
    await worker.terminate()
    throw new Error(
      `the embedded database in ${folder} cannot be opened (${error.message}): free space on its disk, restore a copy, or move the folder away`,
    )
  })
  const inside: FleetQuery = <R extends object>(sql: string, values?: readonly unknown[]) =>
    ask<R[]>('query', sql, values)
  return {
    query: (sql, values) => turn.runExclusive(() => inside(sql, values)) as never,
    transaction: (work) =>
      turn.runExclusive(async () => {
        await inside('begin')
        try {
          const result = await work(inside)
          await inside('commit')
          return result
        } catch (error) {
          await inside('rollback').catch(() => {})
          throw error
        }
      }),
    listen: (channel) => turn.runExclusive(() => ask('listen', quoted(channel))),
    unlisten: (channel) => turn.runExclusive(() => ask('unlisten', quoted(channel))),
    lead: async () => true,
    async close() {
      if (isClosing) return
      isClosing = true
      await turn.runExclusive(() => ask('close')).catch(() => {})
      await worker.terminate()
    },
  }
}
