import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { messageOf, RtkError } from '../../errors.js'
import type { Runtime } from '../../index.js'
import { DataFiles } from '../../platform/files/data-files.js'
import { replaceFile } from '../../platform/files/durable-file.js'
import type { Logger } from '../../platform/log/log.js'
import { LineReader, longestAnswer, longestRequest, reachControl, socketFile } from './protocol.js'

type Params = Record<string, unknown>
type Method = (params: Params, signal: AbortSignal) => Promise<unknown>

export const mostClients = 16

function text(params: Params, name: string): string {
  const value = params[name]
  if (typeof value !== 'string' || value === '') throw new RtkError('RTK_ERR_USAGE', `${name} is missing`)
  return value
}

/** The operations that the command line can request of the running service. */
function methods(runtime: Runtime, data: string): Record<string, Method> {
  const { station } = runtime
  return {
    list: async () => station.plugins(),
    load: async (params) => runtime.load(text(params, 'plugin')),
    unload: async (params) => runtime.unload(text(params, 'plugin')),
    reload: async (params) => runtime.reload(text(params, 'plugin')),
    commands: async () => station.commands(),
    command: async (params, signal) => station.command(text(params, 'text'), { source: 'console', signal }),
    change: async (params) => station.change(params.values, { source: 'console' }),
    'reset-passwords': async () => runtime.resetPasswords(),
    document: async () => station.document(),
    // Some megabytes: by way of a file that is in memory, not as an answer.
    report: async () => {
      const { path } = new DataFiles(data).dir('report', 'made', { volatile: true })
      const file = join(path, 'report.tar.gz')
      await replaceFile(file, await station.report())
      return { file }
    },
    about: async () => ({ serial: station.serial, address: runtime.address, version: runtime.device.version }),
  }
}

/**
 * Serves the control socket until the returned function is called.
 * @throws RTK_ERR_DATA_FOLDER
 */
export async function serveControl(data: string, runtime: Runtime, log: Logger): Promise<() => Promise<void>> {
  const table = methods(runtime, data)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    if (sockets.size >= mostClients) refuse(socket, 'RTK_ERR_UNAVAILABLE', `busy: ${mostClients} clients are connected`)
    else serveClient(socket, table, sockets)
  })
  // Those beyond the limit learn the reason before they are closed.
  server.maxConnections = 2 * mostClients
  const release = await listen(server, data)
  server.on('error', (error) => log.error({ err: error }, `control socket: ${error.message}`))
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
    // Node takes the socket away by the path that it was made with: its folder had to stay reachable until here.
    release()
    rmSync(socketFile(data), { force: true })
  }
}

/** @returns what lets go of the path of the socket @throws RTK_ERR_DATA_FOLDER */
async function listen(server: Server, data: string): Promise<() => void> {
  const file = socketFile(data)
  // The store's lock proves that no other service uses this folder: an existing socket belongs to a dead process.
  let reach: ReturnType<typeof reachControl> | undefined
  const umask = process.umask(0o177)
  try {
    rmSync(file, { force: true })
    reach = reachControl(data)
    server.listen(reach.path)
    await once(server, 'listening')
    chmodSync(file, 0o600)
    return reach.release
  } catch (error) {
    server.close()
    reach?.release()
    const text = `the control socket ${file} cannot be made: ${messageOf(error)}`
    throw new RtkError('RTK_ERR_DATA_FOLDER', text, { cause: error })
  } finally {
    process.umask(umask)
  }
}

function refuse(socket: Socket, code: string, message: string): void {
  socket.end(`${JSON.stringify({ id: null, error: { code, message } })}\n`, () => socket.destroy())
}

function serveClient(socket: Socket, table: Record<string, Method>, sockets: Set<Socket>): void {
  const gone = new AbortController()
  sockets.add(socket)
  socket.setEncoding('utf8')
  socket.on('close', () => {
    sockets.delete(socket)
    gone.abort()
  })
  const reader = new LineReader(longestRequest, (line) => void answer(line, socket, table, gone.signal))
  socket.on('data', (chunk) => {
    if (reader.push(chunk as unknown as string)) return
    refuse(socket, 'RTK_ERR_USAGE', `a request has at most ${longestRequest} characters`)
  })
}

/** @throws RTK_ERR_USAGE */
function requestOf(line: string): { id?: unknown; method?: unknown; params?: Params } {
  let request: unknown
  try {
    request = JSON.parse(line)
  } catch (error) {
    throw new RtkError('RTK_ERR_USAGE', `a request is JSON: ${messageOf(error)}`, { cause: error })
  }
  if (typeof request !== 'object' || request === null) throw new RtkError('RTK_ERR_USAGE', 'a request is an object')
  return request
}

async function answer(line: string, socket: Socket, table: Record<string, Method>, signal: AbortSignal): Promise<void> {
  let id: unknown
  try {
    const request = requestOf(line)
    id = request.id
    const method = typeof request.method === 'string' && Object.hasOwn(table, request.method) && table[request.method]
    if (!method) throw new RtkError('RTK_ERR_USAGE', `unknown method ${String(request.method)}`)
    const result = (await method(request.params ?? {}, signal)) ?? null
    const text = JSON.stringify({ id, result })
    if (text.length > longestAnswer) {
      const problem = `the answer has ${text.length} characters, at most ${longestAnswer} are sent`
      throw new RtkError('RTK_ERR_INTERNAL', problem)
    }
    socket.write(`${text}\n`)
  } catch (error) {
    // What nobody foresaw is no mistake of the caller.
    const code = error instanceof RtkError ? error.code : 'RTK_ERR_INTERNAL'
    socket.write(`${JSON.stringify({ id, error: { code, message: messageOf(error) } })}\n`)
  }
}
