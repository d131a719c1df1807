import { endianness, networkInterfaces } from 'node:os'
import { readRecordSync } from 'rtk-base/files'
import { type Ends, isLocal, normalAddress, Outbound, type OwnAddress } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import { cellularRouter, cellularUplink, type MqttLink } from 'rtk-base/services'
import type { Broker } from '../broker.js'
import { type Failure, isOfTheWay } from '../failure.js'
import type { Session } from '../session/session.js'

export interface OutboundEvents {
  /** A network came up. */
  up(): void
  /** The socket of the session or the attempt has lost its way: it would wait for minutes. Another way may be there already. */
  stranded(failure: Failure): void
}

/** The connection to the broker, as the uplinks and the recovery of the station see it. */
export class BrokerOutbound extends Outbound {
  readonly #services: PluginContext['services']
  readonly #session: () => Session | undefined

  /** @param session that of the link or of its attempt */
  constructor(ctx: PluginContext, session: () => Session | undefined) {
    super(ctx, 'mqtt-link', '', { carries: 'control' })
    this.#services = ctx.services
    this.#session = session
  }

  follow({ up, stranded }: OutboundEvents): void {
    const left = (addresses: readonly string[], text: string) => {
      const address = this.#localAddress
      if (address !== undefined && addresses.includes(address)) stranded({ cause: 'unreachable', text })
    }
    // An attempt may have taken a way a moment before that was gone.
    const changed = () => {
      const address = this.#localAddress
      if (address !== undefined && this.uplinks.isStranded(address)) left([address], `the address ${address} is gone`)
    }
    this.start({ up, changed, down: left })
  }

  get #localAddress(): string | undefined {
    const address = this.#session()?.localAddress
    return address === undefined ? undefined : normalAddress(address)
  }

  /** @param broker `''` as host: none */
  aim({ host, port }: Broker): void {
    this.retarget(host === '' ? '' : `${host}:${port}`)
  }

  /** `mqtt.via` of a session that is up. */
  via(session: Session): MqttLink['via'] {
    const via = this.uplinks.via(session)
    if (via !== undefined) return via
    const isConnected = this.#services.find(cellularUplink)?.connected === true
    const router = isConnected ? this.#services.find(cellularRouter)?.address : undefined
    return viaOf(session, { interfaces: networkInterfaces(), router, gateways: readDefaultGateways })
  }

  /** The uplinks learn of a failure on the way; `down` follows when the link gives up. */
  wayFailed(failure: Failure, localAddress?: string): void {
    if (isOfTheWay(failure)) this.uplinks.failed(failure.text, localAddress)
  }

  /** The link is down. Input of the recovery ladder: whether the station's network may be at fault. */
  down({ cause, text }: Failure, wait_ms: number): void {
    const isIdle = cause === 'config' || cause === 'held' || cause === 'identity'
    const answered = cause === 'auth' || cause === 'refused' || cause === 'protocol' || cause === 'tls'
    if (isIdle) this.idle(text)
    else this.failed(text, wait_ms, { answered, evidence: false })
  }
}

export interface Routing {
  /** As `os.networkInterfaces()` has them. */
  interfaces: Readonly<Record<string, readonly OwnAddress[] | undefined>>
  /** Address of the cellular router; undefined while its modem is not connected. */
  router: string | undefined
  /** Default gateways by interface. */
  gateways(): ReadonlyMap<string, readonly string[]>
}

/**
 * `mqtt.via`: the kind of interface that has the local address of the socket. An Ethernet port counts as cellular where its
 * default gateway is the cellular router, that is connected through its modem, and the broker is not in the local network.
 */
export function viaOf(
  { localAddress, remoteAddress }: Ends,
  { interfaces, router, gateways }: Routing,
): MqttLink['via'] {
  const address = normalAddress(localAddress)
  for (const [name, addresses] of Object.entries(interfaces)) {
    if (!addresses?.some((own) => own.address === address && !own.internal)) continue
    if (/^(wl|sta)/.test(name)) return 'sta'
    if (/^(ww|ppp|usb|qmi|rmnet|cdc)/.test(name)) return 'cellular'
    if (!/^(e|br)/.test(name)) continue
    const leadsToModem =
      router && !isLocal(normalAddress(remoteAddress), addresses) && gateways().get(name)?.includes(router)
    return leadsToModem ? 'cellular' : 'eth'
  }
  return ''
}

/** Flags of a route (linux/route.h): it is up, and leads to a gateway. */
const viaGateway = 0x0001 | 0x0002

/** Default gateways by interface, IPv4, of the text of `/proc/net/route`. */
export function defaultGateways(text: string, isLittleEndian = endianness() === 'LE'): Map<string, string[]> {
  const gateways = new Map<string, string[]>()
  for (const line of text.split('\n').slice(1)) {
    const [name = '', destination, gateway = '', flags = '', , , , mask] = line.trim().split(/\s+/)
    const isDefault = destination === '00000000' && mask === '00000000'
    if (!isDefault || (Number.parseInt(flags, 16) & viaGateway) !== viaGateway || !/^[0-9A-F]{8}$/i.test(gateway))
      continue
    // The kernel prints the four bytes of the address as one number of its own byte order.
    const bytes = [...Buffer.from(gateway, 'hex')]
    gateways.set(name, [...(gateways.get(name) ?? []), (isLittleEndian ? bytes.reverse() : bytes).join('.')])
  }
  return gateways
}

/** The routes as the machine has them; empty where it has no such file. */
function readDefaultGateways(): Map<string, string[]> {
  try {
    return defaultGateways(readRecordSync('/proc/net/route'))
  } catch {
    return new Map()
  }
}
