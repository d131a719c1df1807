import { statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { RtkError } from '../../errors.js'
import { systemCode } from '../../platform/files/durable-file.js'
import { longestAnswer, longestRequest, reachControl, socketFile } from './protocol.js'

/** The longest that anything takes on purpose: a command 30 s, a reload of a plugin with slow dependents more. */
const answerLimit_s = 60

interface Answer {
  readonly status: number
  readonly text: string
}

/** The command line's way to the running service. */
export class ControlClient {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #reach: ReturnType<typeof reachControl>

  private constructor(reach: ReturnType<typeof reachControl>) {
    this.#reach = reach
  }

  /** @throws RTK_ERR_NOT_RUNNING */
  static async open(data: string): Promise<ControlClient> {
    let client: ControlClient | undefined
    try {
      client = new ControlClient(reachControl(data))
      // Whatever it answers: it is there.
      await client.#ask('GET', '', '', answerLimit_s)
      return client
    } catch (cause) {
      client?.close()
      if (cause instanceof RtkError) throw cause
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
   * @throws what the service refuses it with; RTK_ERR_NOT_RUNNING, also without an answer in `limit_s`
   */
  async call<T>(method: string, params: Record<string, unknown> = {}, limit_s = answerLimit_s): Promise<T> {
    const body = JSON.stringify(params)
    if (body.length > longestRequest)
      throw new RtkError('RTK_ERR_USAGE', `a request has at most ${longestRequest} characters, not ${body.length}`)
    const { status, text } = await this.#ask('POST', method, body, limit_s).catch((cause) => {
      if (cause instanceof RtkError) throw cause
      throw new RtkError('RTK_ERR_NOT_RUNNING', 'the service went away before it answered', { cause })
    })
    const value: unknown = JSON.parse(text)
    if (status === 200) return value as T
    const { error: code, message, help } = value as { error: string; message: string; help: string }
    throw new RtkError({ code, status, help }, message)
  }

  close(): void {
    this.#agent.destroy()
    this.#reach.release()
  }

  #ask(method: 'GET' | 'POST', name: string, body: string, limit_s: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const to = { agent: this.#agent, socketPath: this.#reach.path, path: `/${name}` }
      const asked = request({ ...to, method, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('error', reject)
        response.on('data', (chunk: string) => {
          text += chunk
          if (text.length > longestAnswer)
            asked.destroy(new RtkError('RTK_ERR_NOT_RUNNING', `the answer is longer than ${longestAnswer} characters`))
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      const late = setTimeout(() => {
        const text = `no answer in ${limit_s} s: the service is blocked or overloaded, see its log`
        asked.destroy(new RtkError('RTK_ERR_NOT_RUNNING', text))
      }, limit_s * 1_000)
      asked.on('error', reject)
      asked.on('close', () => clearTimeout(late))
      asked.end(body)
    })
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
