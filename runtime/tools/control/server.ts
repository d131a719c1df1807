import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { messageOf, RtkError } from '../../errors.js'
import type { Runtime } from '../../index.js'
import { DataFiles } from '../../platform/files/data-files.js'
import { disk } from '../../platform/files/disk.js'
import { replaceFile } from '../../platform/files/durable-file.js'
import type { Logger } from '../../platform/log/log.js'
import { longestAnswer, longestRequest, reachControl, socketFile } from './protocol.js'

type Params = Record<string, unknown>
type Method = (params: Params, signal: AbortSignal) => Promise<unknown>

export const mostClients = 16
const longestHead = 8 * 1024

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
    actions: async () => station.actions(),
    command: async (params) => station.command(text(params, 'text'), { source: 'console' }),
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
  const clients = new Set<Socket>()
  const server = createServer({ maxHeaderSize: longestHead }, (request, response) => {
    const isBusy = !clients.has(request.socket)
    answer(request, response, isBusy ? undefined : table).catch(() => response.destroy())
  })
  // A console may be idle for hours.
  server.keepAliveTimeout = 0
  server.on('connection', (socket) => {
    if (clients.size >= mostClients) return
    clients.add(socket)
    socket.once('close', () => clients.delete(socket))
  })
  // Those beyond the limit learn the reason before they are closed.
  server.maxConnections = 2 * mostClients
  const release = await listen(server, data)
  server.on('error', (error) => log.error({ err: error }, `control socket: ${error.message}`))
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
    // Node takes the socket away by the path that it was made with: its folder had to stay reachable until here.
    release()
    disk.rmSync(socketFile(data), { force: true })
  }
}

/** @returns what lets go of the path of the socket @throws RTK_ERR_DATA_FOLDER */
async function listen(server: Server, data: string): Promise<() => void> {
  const file = socketFile(data)
  // The store's lock proves that no other service uses this folder: an existing socket belongs to a dead process.
  let reach: ReturnType<typeof reachControl> | undefined
  const umask = process.umask(0o177)
  try {
    disk.rmSync(file, { force: true })
    reach = reachControl(data)
    // It binds in this call: nothing else is made under this mask.
    server.listen(reach.path)
    process.umask(umask)
    await once(server, 'listening')
    disk.chmodSync(file, 0o600)
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

/** @throws RTK_ERR_USAGE */
async function paramsOf(request: IncomingMessage): Promise<Params> {
  let text = ''
  request.setEncoding('utf8')
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: string) => {
      if (text.length <= longestRequest) text += chunk
      if (text.length > longestRequest)
        reject(new RtkError('RTK_ERR_USAGE', `a request has at most ${longestRequest} characters`))
    })
    request.on('end', resolve)
    request.on('error', reject)
  })
  let params: unknown
  try {
    params = JSON.parse(text)
  } catch (error) {
    throw new RtkError('RTK_ERR_USAGE', `a request is JSON: ${messageOf(error)}`, { cause: error })
  }
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    throw new RtkError('RTK_ERR_USAGE', 'a request is an object')
  return params as Params
}

/** @param table undefined: the service is busy */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  table: Record<string, Method> | undefined,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const send = (status: number, value: string) => {
    // What is left of a refused request is not read.
    if (!table || (request.method === 'POST' && !request.complete)) response.shouldKeepAlive = false
    response.writeHead(status, { 'content-type': 'application/json' }).end(value)
  }
  try {
    if (!table) throw new RtkError('RTK_ERR_UNAVAILABLE', `busy: ${mostClients} clients are connected`)
    const [, name = ''] = (request.url ?? '').split('/')
    const method = request.method === 'POST' && Object.hasOwn(table, name) ? table[name] : undefined
    if (!method) throw new RtkError('RTK_ERR_USAGE', `unknown method ${name}`)
    const result = (await method(await paramsOf(request), gone.signal)) ?? null
    const text = JSON.stringify(result)
    if (text.length > longestAnswer) {
      const problem = `the answer has ${text.length} characters, at most ${longestAnswer} are sent`
      throw new RtkError('RTK_ERR_INTERNAL', problem)
    }
    send(200, text)
  } catch (error) {
    // What nobody foresaw is no mistake of the caller.
    const known = error instanceof RtkError ? error : new RtkError('RTK_ERR_INTERNAL', messageOf(error))
    send(known.statusCode, JSON.stringify({ error: known.code, message: known.message, help: known.help }))
  }
}
