import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { RtkError, type RtkErrorCode } from '../errors.js'
import { LineReader } from './protocol.js'
import { reachControl } from './socket-path.js'

interface Answer {
  id: number
  result?: unknown
  error?: { code: RtkErrorCode; message: string }
}

/** A connection of the command line to the running service. */
export class ControlClient {
  readonly #socket: Socket
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>()
  #nextId = 1

  private constructor(socket: Socket) {
    this.#socket = socket
    const reader = new LineReader((line) => this.#answered(JSON.parse(line) as Answer))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => void reader.push(chunk as unknown as string))
    socket.on('close', () => this.#lost())
    socket.on('error', () => this.#lost())
  }

  /** @throws RTK_ERR_NOT_RUNNING */
  static async open(data: string): Promise<ControlClient> {
    try {
      return new ControlClient(await connectTo(data))
    } catch (error) {
      throw new RtkError(
        'RTK_ERR_NOT_RUNNING',
        `no rtk-base answers in ${data}: start it, or name its folder with --data`,
        { cause: error },
      )
    }
  }

  async call<T>(method: string, params: Record<string, unknown> = {}): Promise<T> {
    const id = this.#nextId++
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    this.#socket.write(`${JSON.stringify({ id, method, params })}\n`)
    return answer as Promise<T>
  }

  close(): void {
    this.#socket.end()
  }

  #answered({ id, result, error }: Answer): void {
    const call = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error) call?.reject(new RtkError(error.code, error.message))
    else call?.resolve(result)
  }

  #lost(): void {
    for (const { reject } of this.#waiting.values()) {
      reject(new RtkError('RTK_ERR_NOT_RUNNING', 'the service went away before it answered'))
    }
    this.#waiting.clear()
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
