/** The list of uplinks. Pure, from interfaces, the cellular router and findings. */
import type { NetworkInterface, Reach, Uplink } from 'rtk-base/services'

/** Reachability found through an uplink. */
export interface Finding {
  readonly reached: boolean
  /** The peer and the result. */
  readonly text: string
}

export interface Known {
  readonly interfaces: readonly NetworkInterface[]
  /** The cellular router, where it is known: its address, and whether its modem has a data connection. */
  readonly router: { readonly address: string; readonly connected: boolean | undefined } | undefined
  /** The newest finding that counts, by interface. */
  findings(name: string): Finding | undefined
}

/** The ways out, the one with the default route first. An access point of our own is none. */
export function uplinksOf({ interfaces, router, findings }: Known): Uplink[] {
  const candidates = interfaces.filter(({ wifi }) => wifi?.mode !== 'ap')
  const [first] = candidates.filter(hasRoute).sort(byMetric)
  return candidates
    .map((one): Uplink => {
      const finding = findings(one.name)
      const viaRouter = one.gateway !== '' && one.gateway === router?.address
      // A router whose modem is offline may have another uplink, proven by a successful finding.
      const leadsOut = !viaRouter || router?.connected !== false || finding?.reached === true
      const isCellular = viaRouter && !(router?.connected === false && leadsOut)
      const isUp = hasRoute(one) && leadsOut
      return {
        kind: one.kind === 'wifi' ? 'sta' : isCellular ? 'cellular' : 'eth',
        name: one.name,
        addresses: [...one.ip4, ...one.ip6].map(({ address }) => address),
        up: isUp,
        default: one === first,
        metric: one.metric ?? one.route6?.metric,
        reach: isUp ? reachOf(one.reach, finding) : 'none',
        text: isUp ? textOf(one.reach, finding) : downText(one, leadsOut),
      }
    })
    .sort((a, b) => Number(b.default) - Number(a.default))
}

/** A disconnecting interface keeps its route until the end: a reconnect now would still use it. */
const hasRoute = (one: NetworkInterface) =>
  (one.state === 'connected' || one.state === 'disconnecting') && (hasRoute4(one) || hasRoute6(one))

const hasRoute4 = ({ gateway, ip4, metric }: NetworkInterface) =>
  gateway !== '' && ip4.length > 0 && metric !== undefined
const hasRoute6 = ({ ip6, route6 }: NetworkInterface) => ip6.length > 0 && route6 !== undefined

/** IPv6-only uplinks come last: few brokers are reachable through them. */
const byMetric = (a: NetworkInterface, b: NetworkInterface) =>
  Number(hasRoute4(b)) - Number(hasRoute4(a)) || rankOf(a) - rankOf(b)
const rankOf = (one: NetworkInterface) => (hasRoute4(one) ? one.metric : one.route6?.metric) ?? 0

/**
 * A success proves the uplink. A failure proves nothing if the daemon's check found the internet: the
 * peer may be down.
 */
function reachOf(checked: Reach, finding: Finding | undefined): Reach {
  if (finding?.reached) return 'internet'
  if (finding && checked === 'unknown') return 'local'
  return checked
}

function textOf(checked: Reach, finding: Finding | undefined): string {
  if (finding?.reached) return finding.text
  const text = {
    unknown: '',
    none: 'the network daemon reached nothing through it',
    local: 'the network is there, the internet was not reached through it',
    portal: 'a login page answers instead of the internet: log in to that network',
    internet: '',
  }[checked]
  return [text, finding?.text].filter(Boolean).join('; ')
}

function downText({ name, state, reason, gateway }: NetworkInterface, leadsOut: boolean): string {
  if (state === 'connected') {
    if (!leadsOut) return 'the modem of the router has no data connection'
    return gateway === '' ? `${name} has no gateway` : `${name} has no default route`
  }
  return reason === '' ? `${name} is ${state}` : `${name} is ${state}: ${reason}`
}

/** Changes of the uplinks between two evaluations: `down` has the old entries, `up` the new ones. */
export function changesOf(before: readonly Uplink[], now: readonly Uplink[]): { down: Uplink[]; up: Uplink[] } {
  const same = (one: Uplink, other: Uplink | undefined) => other?.up === true && ip4Of(one) === ip4Of(other)
  // IPv4 that is added to IPv6 leaves what was there.
  const isKept = (old: Uplink, one: Uplink | undefined) => same(old, one) || (one?.up === true && ip4Of(old) === '')
  const find = (list: readonly Uplink[], { name }: Uplink) => list.find((other) => other.name === name)
  return {
    down: before.filter((old) => old.up && !isKept(old, find(now, old))),
    up: now.filter((one) => {
      const old = find(before, one)
      return one.up && (!same(one, old) || (one.default && old?.default !== true))
    }),
  }
}

/** IPv6 addresses come and go while a session lives on. */
const ip4Of = ({ addresses }: Uplink) => addresses.filter((address) => !address.includes(':')).join(' ')
