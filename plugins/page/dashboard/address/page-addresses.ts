/** Where people in the same network find the page. Pure. */
import type { NetworkInterfaceInfo } from 'node:os'
import { generate } from 'lean-qr'
import { toSvgPath } from 'lean-qr/extras/svg'
import type { HttpAddress } from 'rtk-base/services'

export interface PageAddress {
  readonly interface: string
  readonly url: string
}

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>
type Own = NetworkInterfaceInfo & { readonly name: string }

/** More than a person would look through. */
const most = 4
/** Bridges and pairs of containers and virtual machines, tunnels: no phone is there. */
const virtual = /^(docker|br-|veth|virbr|vmnet|vboxnet|cni|flannel|lxc|podman|tun|tap|wg)/
const anyHost = ['0.0.0.0', '::']

/**
 * @param http where the HTTP server listens; undefined: nowhere yet
 * @param interfaces as `os.networkInterfaces()` has them
 * @returns the best first; empty where only this machine reaches it
 */
export function pageAddresses(http: HttpAddress | undefined, interfaces: Interfaces): readonly PageAddress[] {
  if (!http) return []
  const { host, port, url } = http
  const [scheme = ''] = url.split(':')
  const own = Object.entries(interfaces)
    .flatMap(([name, all = []]) => all.map((one): Own => ({ ...one, name })))
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  const listening = own.filter(({ address, family, name }) =>
    anyHost.includes(host) ? !virtual.test(name) && (family === 'IPv4' || host === '::') : address === host,
  )
  const ip4 = listening.filter(({ family }) => family === 'IPv4')
  const found = ip4.length > 0 ? ip4 : listening
  return found
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, most)
    .map(({ address, family, name }) => ({
      interface: name,
      url: `${scheme}://${family === 'IPv6' ? `[${address}]` : address}${port === defaultPorts[scheme] ? '' : `:${port}`}/`,
    }))
}

const defaultPorts: Readonly<Record<string, number>> = { http: 80, https: 443 }

/** A link-local address changes with each start. */
const rank = ({ address }: Own) => (address.startsWith('169.254.') ? 1 : 0)

/** Quiet zone in modules on a terminal: enough for cameras, half of the standard for paper. */
const margin = 2
/** Black on bright white, independent of the terminal colours. */
const [colours, plain] = ['\u001b[30;107m', '\u001b[0m']
/** Two modules a character: the upper and the lower one dark or light. */
const halves = [' ', '▄', '▀', '█'] as const

/** Dark modules as an SVG path, one unit each. */
export function qrPath(text: string): { readonly size: number; readonly path: string } {
  const code = generate(text)
  return { size: code.size, path: toSvgPath(code) }
}

/** For a terminal, several lines. */
export function qrLines(text: string): string {
  const code = generate(text)
  const lines: string[] = []
  for (let y = -margin; y < code.size + margin; y += 2) {
    let line = ''
    for (let x = -margin; x < code.size + margin; x++)
      line += halves[(code.get(x, y) ? 2 : 0) + (code.get(x, y + 1) ? 1 : 0)]
    lines.push(`${colours}${line}${plain}`)
  }
  return lines.join('\n')
}
