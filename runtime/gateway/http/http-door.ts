/** The address at which the page is served, with the certificate of HTTPS. */
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Dispose } from '../../../schemas/event.js'
import type { ErrorValues } from '../../../schemas/services.js'
import { messageOf, RtkError } from '../../errors.js'
import { CertificateFiles } from '../../platform/files/certificate-files.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { NetworkPort } from '../../platform/ports/network.js'
import { Door } from '../net/door.js'
import type { ListenAddress } from '../net/types.js'

export interface HttpDoorOptions {
  host: string
  /** 0: any free one. */
  port: number
  /** Paths of the PEM files of a certificate with its chain, and of its key: with them, the address speaks HTTPS. */
  tls?: { cert: string; key: string }
}

export interface HttpDoorDeps {
  log: Logger
  clock: Clock
  sockets: NetworkPort
  /** The time, and who is told what a person has to do about the certificate (`CertificateFiles.look`). */
  certificate?: { utc_ms(): number; report(trouble: ErrorValues | undefined): void }
}

/** Whose connections they are. */
export interface HttpDoorEvents {
  admit(socket: Socket): boolean
  accepted(socket: Socket): void
}

/** How often it is looked whether the files of the certificate were renewed. */
const certificateLook_ms = 60_000

export class HttpDoor {
  readonly #options: HttpDoorOptions
  readonly #log: Logger
  readonly #clock: Clock
  readonly #sockets: NetworkPort
  readonly #events: HttpDoorEvents
  readonly #certificate: CertificateFiles | undefined
  readonly #certificateDeps: HttpDoorDeps['certificate']
  #certificateLook: Dispose = () => {}
  #door: Door | undefined

  constructor(options: HttpDoorOptions, { log, clock, sockets, certificate }: HttpDoorDeps, events: HttpDoorEvents) {
    this.#options = options
    this.#log = log
    this.#clock = clock
    this.#sockets = sockets
    this.#events = events
    this.#certificate = options.tls && new CertificateFiles(options.tls)
    this.#certificateDeps = certificate
  }

  /** SHA-256 of its own certificate; undefined: it speaks plain HTTP. */
  get fingerprint256(): string | undefined {
    return this.#certificate?.certificate?.fingerprint256
  }

  /**
   * An address that the machine does not have yet, or a certificate that cannot be read, is tried again: RTCM does not depend on it.
   * @returns what is missing then; `opened` is called when it is there
   * @throws RTK_ERR_LISTEN
   */
  open(opened: (at: ListenAddress) => void = () => {}): Promise<ListenAddress | 'address' | 'certificate'> {
    return new Promise((resolve, reject) => {
      let tell = (at: ListenAddress): void => resolve(at)
      let hasFailed = false
      const certificate = this.#certificate
      const ports = { network: this.#sockets, clock: this.#clock }
      this.#door = new Door(ports, this.#options, certificate && (() => certificate.read()), {
        // Proxies of HTTP name their clients in each request.
        isProxy: () => false,
        proxyFailed: () => {},
        ...this.#events,
        handshakesRefused: (refused, why) =>
          this.#log.warn(
            { refused },
            `${refused} TLS handshake(s) refused: ${why}; more are refused until some have finished`,
          ),
        handshakeFailed: (error) => this.#log.debug({ err: error }, 'a TLS handshake failed'),
        opened: (at) => tell(at),
        failed: (_text, _wait_ms, error) => {
          if (hasFailed) return
          hasFailed = true
          const { host, port } = this.#options
          const text = `cannot listen on ${host}:${port}: ${messageOf(error)}`
          const { code, syscall } = error as NodeJS.ErrnoException
          // The rest of the station runs all the same: RTCM needs no page.
          const isCertificate = certificate !== undefined && syscall !== 'listen'
          if (code === 'EADDRNOTAVAIL' || isCertificate) {
            const why = isCertificate ? 'its certificate' : 'this machine has no such address (yet)'
            this.#log.warn(`${text}: ${why}; it is tried again every few seconds`)
            tell = opened
            resolve(isCertificate ? 'certificate' : 'address')
          } else {
            this.#door?.close()
            reject(new RtkError('RTK_ERR_LISTEN', text, { cause: error }))
          }
        },
      })
      if (certificate) this.#followCertificate(certificate)
    })
  }

  #followCertificate(certificate: CertificateFiles): void {
    this.#certificateLook = this.#clock.timer(certificateLook_ms, () => {
      const trouble = certificate.look(this.#certificateDeps?.utc_ms() ?? 0, () => {
        this.#door?.renew()
        this.#log.info('the certificate of the HTTP server was renewed: connections from now on get the new one')
      })
      this.#certificateDeps?.report(trouble)
      this.#followCertificate(certificate)
    })
  }

  close(): void {
    void this.#certificateLook()
    this.#door?.close()
  }
}
