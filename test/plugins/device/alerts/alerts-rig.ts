/** A station with the plugin alerts and a source of alerts that a test commands, and receivers that can be as bad as a test wants. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { createTestStation, ManualClock, type TestStation, until } from 'rtk-base/testing'
import type { Test } from 'tap'
import alertsPlugin from '../../../../plugins/device/alerts/index.js'
import { type AnyPlugin, definePlugin, type EventSource } from '../../../../runtime/plugin.js'
import { type Alert, alertSource } from '../../../../schemas/services.js'

export const alert = (serial: string, kind: string, more: Partial<Alert> = {}): Alert => ({
  ...{ key: `${serial} ${kind}`, serial, name: `Roof ${serial}`, group: 'north', kind, severity: 'warning' },
  ...{ text: 'text of it', advice: 'advice for it', since_s: Date.UTC(2026, 10, 21, 2, 13) / 1_000 },
  ...more,
})

export interface Posted {
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export class HookServer {
  readonly posted: Posted[] = []
  /** @returns true: it has answered itself */
  behave: (posted: Posted, response: ServerResponse) => boolean = () => false
  url = ''
  port = 0

  static async make(t: Test): Promise<HookServer> {
    const own = new HookServer()
    const server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('error', () => {})
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const { headers, url = '' } = request
        const posted = { url, headers, body: Buffer.concat(parts).toString('utf8') }
        own.posted.push(posted)
        if (!own.behave(posted, response)) response.writeHead(204).end()
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    t.teardown(() => {
      server.close()
      server.closeAllConnections()
    })
    own.port = (server.address() as AddressInfo).port
    own.url = `http://127.0.0.1:${own.port}/hook`
    return own
  }

  get subjects(): string[] {
    return this.posted.map(({ body }) => (JSON.parse(body) as { subject: string }).subject)
  }
}

export interface Mail {
  readonly from: string
  readonly to: readonly string[]
  readonly data: string
}

/** Enough of RFC 5321 for one mail at a time. */
export class MailServer {
  readonly mails: Mail[] = []
  readonly commands: string[] = []
  readonly sockets = new Set<Socket>()
  /** Answer to a command instead of the usual one; `hang`: none, `close`: the connection ends. */
  behave: (command: string) => string | undefined = () => undefined
  port = 0

  static async make(t: Test, tls?: { cert: string; key: string }): Promise<MailServer> {
    const own = new MailServer()
    const server = createTcpServer((socket) => {
      own.sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => own.sockets.delete(socket))
      own.#greet(socket, tls)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    t.teardown(() => {
      server.close()
      for (const socket of own.sockets) socket.destroy()
    })
    own.port = (server.address() as AddressInfo).port
    return own
  }

  #greet(socket: Socket, tls?: { cert: string; key: string }): void {
    const special = this.behave('GREETING')
    if (special === 'hang') return
    if (special === 'close') return void socket.end()
    socket.write(special ?? '220 mail.test ESMTP\r\n')
    this.#talk(socket, tls)
  }

  #talk(socket: Socket, tls?: { cert: string; key: string }): void {
    let text = ''
    let from = ''
    let to: string[] = []
    let isData = false
    const answer = (line: string) => socket.write(`${line}\r\n`)
    const heard = (chunk: Buffer) => {
      text += chunk.toString('utf8')
      for (;;) {
        const end = text.indexOf(isData ? '\r\n.\r\n' : '\r\n')
        if (end < 0) return
        const line = text.slice(0, end)
        text = text.slice(end + (isData ? 5 : 2))
        if (isData) {
          isData = false
          this.mails.push({ from, to, data: line })
          answer('250 accepted')
          continue
        }
        this.commands.push(line)
        const special = this.behave(line)
        if (special === 'hang') continue
        if (special === 'close') return void socket.destroy()
        if (special) {
          answer(special)
          continue
        }
        if (line.startsWith('EHLO')) answer(`250-mail.test${tls ? '\r\n250-STARTTLS' : ''}\r\n250 AUTH PLAIN LOGIN`)
        else if (line === 'STARTTLS' && tls) {
          socket.off('data', heard)
          answer('220 go')
          const files = { cert: readFileSync(tls.cert), key: readFileSync(tls.key) }
          const secure = new TLSSocket(socket, { isServer: true, ...files })
          secure.on('error', () => {})
          return this.#talk(secure)
        } else if (line === 'STARTTLS') answer('502 not here')
        else if (line.startsWith('AUTH')) answer('235 welcome')
        else if (line.startsWith('MAIL FROM:')) {
          from = line
          to = []
          answer('250 ok')
        } else if (line.startsWith('RCPT TO:')) {
          to.push(line.slice(8))
          answer('250 ok')
        } else if (line === 'DATA') {
          isData = true
          answer('354 go')
        } else if (line === 'QUIT') {
          answer('221 bye')
          socket.end()
        } else answer('250 ok')
      }
    }
    socket.on('data', heard)
  }
}

export interface Rig {
  readonly station: TestStation
  readonly clock: ManualClock
  /** Sets what the source reports. */
  report(...alerts: Alert[]): void
  seconds(count: number): Promise<void>
  change(values: Record<string, unknown>): Promise<{ result: string; errors?: { message: string }[] }>
  json<T>(method: string, path: string): Promise<T>
}

interface RigOptions {
  readonly changes?: Record<string, unknown>
  readonly options?: Record<string, unknown>
  readonly data?: string
  readonly clock?: ManualClock
  readonly plugins?: Record<string, AnyPlugin>
  readonly reported?: readonly Alert[]
}

/** UTC of the clock at the start: 2026-11-21 00:00. */
export async function alertsRig(t: Test, given: RigOptions = {}): Promise<Rig> {
  const {
    changes = {},
    clock = new ManualClock(),
    data = t.testdir(),
    options = {},
    plugins = {},
    reported = [],
  } = given
  let active: readonly Alert[] = reported
  let changed: EventSource<void> | undefined
  const source = definePlugin({
    name: 'source',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [alertSource],
    setup(ctx) {
      const event = ctx.event<void>()
      changed = event
      ctx.services.provide(alertSource, { active: () => active, onChange: event.on })
    },
  })
  const station = await createTestStation({
    clock,
    ...(data !== undefined && { data }),
    plugins: {
      source: source as AnyPlugin,
      ...plugins,
      alerts: [alertsPlugin as unknown as AnyPlugin, { privateTargets: true, ...options }],
    },
    variant: { changes: { 'alerts-zone': 'UTC', ...changes } },
  })
  t.teardown(() => station.stop())
  return {
    ...{ station, clock },
    report(...alerts) {
      active = alerts
      changed?.emit()
    },
    seconds: async (count) => {
      for (let left = count; left > 0; left -= 5) await clock.advance(Math.min(5, left) * 1_000)
    },
    change: (values) => station.station.change(values, { source: 'http' }),
    json: async <T>(method: string, path: string) => (await station.request(path, { method })).json() as T,
  }
}

export const hooksTo = (...servers: HookServer[]) => ({
  'alerts-hooks': servers.map(({ url }, at) => ({ name: `hook${at + 1}`, url, secret: 'the-hook-secret' })),
})

/** Until a condition holds; the clock stands. */
export const soon = (condition: () => unknown, what: string) => until(condition, what)

export function scratch(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'rtk-base-alerts-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}
