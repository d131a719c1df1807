/** A station with an archive of a few hours, and a server to push them to, which can be as bad as a test wants. */
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createTestStation, ManualClock, type TestStation } from 'rtk-base/testing'
import type { Test } from 'tap'
import raw from '../../../../plugins/reference/raw/index.js'
import { drive } from '../../../harness/drive.js'
import type { Definition } from '../survey-in-rig.js'

export const hour_ms = 3_600_000
export const login = 'roof:correct-horse'

export function scratch(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'rtk-base-raw-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export interface Seen {
  readonly method: string
  readonly name: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** @returns true: it has answered itself */
export type Behaviour = (seen: Seen, request: IncomingMessage, response: ServerResponse) => boolean

/** Files by PUT and HEAD, as nginx and Apache do it. */
export class FileServer {
  readonly files = new Map<string, Buffer>()
  readonly seen: Seen[] = []
  behave: Behaviour = () => false
  /** Before the body is read. @returns true: it has answered itself */
  begin: (request: IncomingMessage, response: ServerResponse) => boolean = () => false
  digests: 'none' | 'repr-digest' | 'etag' = 'none'
  connections = 0
  #busy = 0
  /** Requests at one time. */
  mostBusy = 0
  url = ''

  static async make(t: Test, tls?: { cert: string; key: string }): Promise<FileServer> {
    const own = new FileServer()
    const answer: RequestListener = (request, response) => own.#answer(request, response)
    const files = tls && { cert: readFileSync(tls.cert), key: readFileSync(tls.key) }
    const server: Server = files ? createTlsServer(files, answer) : createServer(answer)
    server.on('connection', () => own.connections++)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    t.teardown(() => {
      server.close()
      server.closeAllConnections()
    })
    own.url = `${tls ? 'https://localhost' : 'http://127.0.0.1'}:${(server.address() as AddressInfo).port}/raw`
    return own
  }

  get puts(): string[] {
    return this.seen.filter(({ method }) => method === 'PUT').map(({ name }) => name)
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.mostBusy = Math.max(this.mostBusy, ++this.#busy)
    response.once('close', () => this.#busy--)
    if (this.begin(request, response)) return
    const parts: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { headers, method = '', url = '' } = request
      const name = url.split('/').at(-1) ?? ''
      const seen = { method, name, headers, body: Buffer.concat(parts) }
      this.seen.push(seen)
      if (this.behave(seen, request, response)) return
      if (method === 'PUT') {
        this.files.set(name, seen.body)
        response.writeHead(201).end()
      } else this.show(name, response)
    })
  }

  show(name: string, response: ServerResponse): void {
    const file = this.files.get(name)
    if (!file) return void response.writeHead(404).end()
    const hash = (kind: string, form: 'base64' | 'hex') => createHash(kind).update(file).digest(form)
    if (this.digests === 'repr-digest') response.setHeader('repr-digest', `sha-256=:${hash('sha256', 'base64')}:`)
    if (this.digests === 'etag') response.setHeader('etag', `"${hash('md5', 'hex')}"`)
    response.writeHead(200, { 'content-length': file.length }).end()
  }
}

export type PushRig = Awaited<ReturnType<typeof pushRig>>

interface RigOptions {
  readonly hours?: number
  readonly options?: Record<string, unknown>
  readonly changes?: Record<string, unknown>
  readonly url: string
  /** Beside the plugin. */
  readonly plugins?: Record<string, Definition>
  /** A data folder of an earlier station. */
  readonly data?: string
  readonly bytes?: (hour: number) => Buffer
}

/** Answer of `GET /raw/files`. */
export interface Listed {
  readonly push?: { waiting: number; deleted: number; trouble: string }
  readonly files: readonly { from: number; pushed?: number; epochs?: number }[]
}

/** Hours from 2026-11-20T10 on; the clock shows the midnight behind it. */
export async function pushRig(
  t: Test,
  { bytes = bytesOf, changes, data = scratch(t), hours = 3, options, plugins, url }: RigOptions,
) {
  const folder = join(data, 'files', 'raw', 'main')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!readdirSync(folder).length) {
    for (let hour = 0; hour < hours; hour++) {
      const name = `20261120T${10 + hour}.rtcm3`
      writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes(hour)), { mode: 0o600 })
      writeFileSync(join(folder, `${name}.json`), '{"epochs":3600,"interval_s":1,"missing":0,"gap_s":1}')
    }
  }
  const clock = new ManualClock()
  const station: TestStation = await createTestStation({
    ...{ clock, data },
    plugins: { ...plugins, raw: [raw as unknown as Definition, { free_mb: 8, push_kbit_s: 1_000_000, ...options }] },
    variant: {
      changes: { 'raw-en': 1, 'raw-push-en': 1, 'raw-push-url': url, 'raw-push-login': login, ...changes },
    },
  })
  t.teardown(() => station.stop())
  const listed = async () => (await station.request('/raw/files')).json() as Listed
  /** The clock advances in steps that are shorter than the shortest wait between two attempts and the limit of a request. */
  const waitFor = (condition: () => unknown, what: string, step_ms = 30_000) => drive(clock, condition, what, step_ms)
  return { station, clock, data, folder, listed, waitFor }
}

/** Does not get smaller when it is compressed. */
function bytesOf(hour: number): Buffer {
  const parts = Array.from({ length: 900 }, (_, n) => createHash('sha256').update(`${hour} ${n}`).digest())
  return Buffer.concat(parts)
}
