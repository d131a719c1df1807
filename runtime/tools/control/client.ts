import { once } from 'node:events'
import { statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { RtkError, type RtkErrorCode } from '../../errors.js'
import { systemCode } from '../../platform/files/durable-file.js'
import { LineReader, longestAnswer, longestRequest, reachControl, socketFile } from './protocol.js'

/** The longest that anything takes on purpose: a command 30 s, a reload of a plugin with slow dependents more. */
const answerLimit_s = 60

interface Answer {
  /** null: the service refuses the connection or the request that it could not read. */
  id: number | null
  result?: unknown
  error?: { code: RtkErrorCode; message: string }
}

/** A connection of the command line to the running service. */
export class ControlClient {
  readonly #socket: Socket
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>()
  #nextId = 1
  #refusal: RtkError | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    const reader = new LineReader(longestAnswer, (line) => this.#answered(JSON.parse(line) as Answer))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      if (reader.push(chunk as unknown as string)) return
      this.#lost(`the answer is longer than ${longestAnswer} characters`)
      socket.destroy()
    })
    socket.on('close', () => this.#lost('the service went away before it answered'))
    socket.on('error', () => this.#lost('the connection to the service failed'))
  }

  /** @throws RTK_ERR_NOT_RUNNING */
  static async open(data: string): Promise<ControlClient> {
    try {
      return new ControlClient(await connectTo(data))
    } catch (cause) {
      const file = socketFile(data)
      const text = isOther(file)
        ? `${file} is no socket: remove it, then restart the service`
        : systemCode(cause) === 'EACCES'
          ? `${data} belongs to another user: run this as that user, e.g. with sudo`
          : `no rtk-base answers in ${data}: start it, or name its folder with --data (a station on a full or read-only disk cannot be reached this way)`
      throw new RtkError('RTK_ERR_NOT_RUNNING', text, { cause })
    }
  }

  /**
   * @throws RTK_ERR_NOT_RUNNING, also without an answer in `limit_s`
   */
  async call<T>(method: string, params: Record<string, unknown> = {}, limit_s = answerLimit_s): Promise<T> {
    if (this.#refusal) throw this.#refusal
    const id = this.#nextId++
    const request = JSON.stringify({ id, method, params })
    if (request.length > longestRequest) {
      throw new RtkError('RTK_ERR_USAGE', `a request has at most ${longestRequest} characters, not ${request.length}`)
    }
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        const text = `no answer in ${limit_s} s: the service is blocked or overloaded, see its log`
        reject(new RtkError('RTK_ERR_NOT_RUNNING', text))
      }, limit_s * 1000)
      const settle = <V>(end: (value: V) => void) => {
        return (value: V) => {
          clearTimeout(timer)
          end(value)
        }
      }
      this.#waiting.set(id, { resolve: settle(resolve as (value: unknown) => void), reject: settle(reject) })
      this.#socket.write(`${request}\n`)
    })
  }

  close(): void {
    this.#socket.end()
  }

  #answered({ id, result, error }: Answer): void {
    if (id === null) {
      this.#refusal = error && new RtkError(error.code, error.message)
      for (const { reject } of this.#waiting.values()) reject(this.#refusal)
      this.#waiting.clear()
      return
    }
    const call = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error) call?.reject(new RtkError(error.code, error.message))
    else call?.resolve(result)
  }

  #lost(reason: string): void {
    for (const { reject } of this.#waiting.values()) reject(new RtkError('RTK_ERR_NOT_RUNNING', reason))
    this.#waiting.clear()
  }
}

/** Something else is where the socket of the service should be. */
function isOther(file: string): boolean {
  try {
    return !statSync(file).isSocket()
  } catch {
    return false
  }
}

async function connectTo(data: string): Promise<Socket> {
  const { path, release } = reachControl(data)
  try {
    const socket = connect(path)
    await once(socket, 'connect')
    return socket
  } finally {
    release()
  }
}
