import { type PluginContext, RtkError, type TLSSocket } from 'rtk-base/plugin'
import { routerErrors } from 'rtk-base/services'
import { isObject } from '../operations/parse.js'

const connectLimit_ms = 10_000
const stored = 'certificate'

/** The first certificate of a router: later answers must use the same one. */
export interface Pin {
  /** Where https answers. */
  readonly origin: string
  /** SHA-256, hexadecimal, lower case; `''` where a person accepted plain HTTP. */
  readonly fingerprint: string
}

const isPin = (value: unknown): value is Pin =>
  isObject(value) && typeof value.origin === 'string' && typeof value.fingerprint === 'string'

/** Reads the certificate of a TLS server without trusting it: nothing is sent. @throws RTK_ERR_ROUTER_OFFLINE, RTK_ERR_ABORTED */
export function certificateAt(
  origin: string,
  { net, timers }: Pick<PluginContext, 'net' | 'timers'>,
  signal: AbortSignal,
): Promise<string> {
  const { hostname, port } = new URL(origin)
  const host = hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const socket = net.dial({ host, port: Number(port || 443), tls: { rejectUnauthorized: false } })
    const settle = (end: () => void) => {
      void cancel()
      signal.removeEventListener('abort', onAbort)
      socket.destroy()
      end()
    }
    const failed = (text: string, cause?: unknown) =>
      settle(() => reject(new RtkError(routerErrors.RTK_ERR_ROUTER_OFFLINE, `${origin}: ${text}`, { cause })))
    const onAbort = () => settle(() => reject(new RtkError('RTK_ERR_ABORTED', `${origin}: given up`)))
    const cancel = timers.after(connectLimit_ms, () => failed(`no TLS connection within ${connectLimit_ms / 1000} s`))
    signal.addEventListener('abort', onAbort, { once: true })
    socket.on('error', (error) => failed(`no TLS connection: ${error.message}`, error))
    socket.on('secureConnect', () => {
      const seen = (socket as TLSSocket).getPeerCertificate().fingerprint256?.replaceAll(':', '').toLowerCase()
      if (seen) settle(() => resolve(seen))
      else failed('it shows no certificate')
    })
  })
}

/** The pinned certificate, and a different certificate awaiting confirmation by a person. */
export class CertificatePin {
  readonly #store: PluginContext['store']
  /** The configured address: the pin of another one means nothing. */
  #url = ''
  #pinned: Pin | undefined
  #waiting: Pin | undefined

  constructor(store: PluginContext['store']) {
    this.#store = store
  }

  /** @param url the configured address */
  async load(url: string): Promise<void> {
    this.#url = url
    const value = await this.#store.get(stored)
    this.#pinned = isPin(value) && (value as { url?: unknown }).url === url ? value : undefined
  }

  get pinned(): Pin | undefined {
    return this.#pinned
  }

  /** The current certificate that differs from the pinned one. */
  get waiting(): Pin | undefined {
    return this.#waiting
  }

  /** Pins what was seen first. */
  async pin(pin: Pin): Promise<void> {
    this.#pinned = pin
    this.#waiting = undefined
    await this.#store.set(stored, { ...pin, url: this.#url })
  }

  /** A certificate other than the pinned one was seen. */
  saw(pin: Pin): void {
    this.#waiting = pin
  }

  /** The router shows the pinned one again: nothing waits for a person. */
  sawPinned(): void {
    this.#waiting = undefined
  }

  /** A person confirms what waits. @param seen what the person saw: the fingerprint or its begin, or `http`. @returns false for another one */
  async accept(seen: string): Promise<boolean> {
    const pin = this.#waiting
    if (!pin || !isSame(pin, seen)) return false
    await this.pin(pin)
    return true
  }
}

/** Digits of a fingerprint that cannot be matched by brute force. */
const shownDigits = 16
const leastDigits = 8
/** Placeholder for plain HTTP, which has no fingerprint. */
const plain = 'http'

function isSame({ fingerprint }: Pin, seen: string): boolean {
  const digits = seen.replaceAll(':', '').toLowerCase()
  if (fingerprint === '') return digits === plain
  return digits.length >= leastDigits && fingerprint.startsWith(digits)
}

/** The command with which a person confirms it. */
export const confirmationOf = ({ fingerprint }: Pin) =>
  `router-certificate=accept ${fingerprint.slice(0, shownDigits) || plain}`
