/** E-mail by SMTP. The library is loaded with the first mail. */
import { asciiHost, checkedResolve, type Refuses } from 'rtk-base/link'
import { type NetworkPort, type PluginContext, rootCertificates, type Socket, Undelivered } from 'rtk-base/plugin'
import type { Channel, Message } from './channel.js'

/** From the connection to the server's acceptance. */
const whole_ms = 60_000

export interface MailSettings {
  readonly host: string
  readonly port: number
  /** `starttls`: refused without; `tls`: from the first byte; `none`: for a server of the local network. */
  readonly tls: 'starttls' | 'tls' | 'none'
  readonly user: string
  readonly password: string
  readonly from: string
  readonly to: readonly string[]
  /** Whether an address that is dialled is refused. */
  readonly refuses: Refuses
}

export class MailChannel implements Channel {
  readonly name = 'mail'
  readonly #ctx: PluginContext
  readonly #settings: MailSettings
  readonly #ca: () => string

  /** @param ca PEM of an authority that is trusted beside the public ones; empty: none */
  constructor(ctx: PluginContext, settings: MailSettings, ca: () => string) {
    this.#ctx = ctx
    this.#settings = settings
    this.#ca = ca
  }

  async send(message: Message, signal: AbortSignal): Promise<void> {
    let socket: Socket | undefined
    let isLate = false
    const late = this.#ctx.timers.after(whole_ms, () => {
      isLate = true
      socket?.destroy()
    })
    const stop = () => socket?.destroy()
    signal.addEventListener('abort', stop)
    try {
      socket = await connected(this.#ctx.net, this.#settings, signal, (opened) => {
        socket = opened
      })
      await this.#submit(message, socket)
    } catch (error) {
      if (isLate) throw new Undelivered('later', `no acceptance within ${whole_ms / 1_000} s`)
      throw troubleOf(error as SmtpError)
    } finally {
      void late()
      signal.removeEventListener('abort', stop)
      socket?.destroy()
    }
  }

  async #submit({ id, subject, text, t_s, what, severity }: Message, socket: Socket): Promise<void> {
    const { createTransport } = await import('nodemailer')
    const { from, password, port, tls, to, user } = this.#settings
    const host = asciiHost(this.#settings.host)
    const ca = this.#ca()
    const transport = createTransport({
      ...{ host, port, secure: tls === 'tls', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
      ...(user !== '' && { auth: { user, pass: password } }),
      ...(ca !== '' && { tls: { ca: [...rootCertificates, ca] } }),
      ...{ greetingTimeout: whole_ms, socketTimeout: whole_ms, connectionTimeout: whole_ms },
      // A text or a name is never read as a file or fetched.
      ...{ disableFileAccess: true, disableUrlAccess: true },
      getSocket: (_options: unknown, done: (error: Error | null, given: { connection: Socket }) => void) =>
        done(null, { connection: socket }),
    })
    await new Promise<void>((done, failed) => {
      // The library does not report every end of a given connection.
      socket.once('close', () => failed(new Error('the server closed the connection')))
      transport
        .sendMail({
          ...{ from, to: [...to], subject, text },
          messageId: `<${id}@${host.replace(/[^\w.-]/g, '') || 'rtk-base'}>`,
          ...(t_s > 0 && { date: new Date(t_s * 1_000) }),
          ...(severity === 'critical' && what !== 'end' && { priority: 'high' as const }),
          // RFC 3834: no absence notes.
          headers: { 'Auto-Submitted': 'auto-generated' },
        })
        .then(() => done(), failed)
    })
  }
}

function connected(
  net: NetworkPort,
  { host, port, refuses }: MailSettings,
  signal: AbortSignal,
  opened: (socket: Socket) => void,
): Promise<Socket> {
  return new Promise((done, failed) => {
    if (signal.aborted) return failed(new Error('stopped'))
    const target = asciiHost(host)
    const trouble = refuses(target)
    if (trouble) return failed(new Error(`alerts-mail-host ${trouble}`))
    const socket = net.dial({ host: target, port, resolve: checkedResolve(net.resolve, refuses) })
    opened(socket)
    socket.once('connect', () => {
      socket.off('error', failed)
      // Between the connection and the library, and after it.
      socket.on('error', () => {})
      done(socket)
    })
    socket.once('error', failed)
    socket.once('close', () => failed(new Error('stopped')))
  })
}

interface SmtpError extends Error {
  readonly code?: string
  readonly responseCode?: number
  readonly command?: string
}

const byCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused: check host and port',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up: no name server answers',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to its network',
  ECONNRESET: 'the server cut the connection off',
  ETIMEDOUT: 'no connection in time',
}

/** The server's own words may repeat what was sent, the login too: only its code is kept. */
function troubleOf({ code = '', command = '', message, responseCode = 0 }: SmtpError): Undelivered {
  const known = byCode[code]
  if (known) return new Undelivered('later', known)
  if (code === 'EAUTH') return new Undelivered('refused', 'it rejects user and password')
  if (/certificate|self[- ]signed|altname/i.test(message))
    return new Undelivered('refused', 'its certificate is not trusted: check the host name, or set alerts.ca')
  if (code === 'ETLS' || command === 'STARTTLS')
    return new Undelivered('refused', 'it does not offer TLS as set: check alerts-mail-tls and the port')
  if (responseCode > 0) {
    const kind = responseCode >= 500 ? 'refused' : 'later'
    return new Undelivered(kind, `it answered ${responseCode}${command && ` to ${command.slice(0, 32)}`}`)
  }
  if (/closed/i.test(message)) return new Undelivered('later', 'the server closed the connection')
  return new Undelivered('later', `the mail was not accepted${code && ` (${code})`}`)
}
