/** Which ways out there are: pure, from what is known of the interfaces, the cellular router and those who tried. */
import type { NetworkInterface, Reach, Uplink } from 'rtk-base/services'

/** What somebody found who talked through an uplink. */
export interface Finding {
  readonly reached: boolean
  /** Who, and what happened. */
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
      const found = findings(one.name)
      const viaRouter = one.gateway !== '' && one.gateway === router?.address
      // A router whose modem is offline may have another way out: then somebody reached something through it.
      const leadsOut = !viaRouter || router?.connected !== false || found?.reached === true
      const isCellular = viaRouter && !(router?.connected === false && leadsOut)
      const isUp = hasRoute(one) && leadsOut
      return {
        kind: one.kind === 'wifi' ? 'sta' : isCellular ? 'cellular' : 'eth',
        name: one.name,
        addresses: [...one.ip4, ...one.ip6].map(({ address }) => address),
        up: isUp,
        default: one === first,
        metric: one.metric ?? one.route6?.metric,
        reach: isUp ? reachOf(one.reach, found) : 'none',
        text: isUp ? textOf(one.reach, found) : downText(one, leadsOut),
      }
    })
    .sort((a, b) => Number(b.default) - Number(a.default))
}

/** One that is being disconnected has its route until the end: who connected again now would still go through it. */
const hasRoute = (one: NetworkInterface) =>
  (one.state === 'connected' || one.state === 'disconnecting') && (hasRoute4(one) || hasRoute6(one))

const hasRoute4 = ({ gateway, ip4, metric }: NetworkInterface) =>
  gateway !== '' && ip4.length > 0 && metric !== undefined
const hasRoute6 = ({ ip6, route6 }: NetworkInterface) => ip6.length > 0 && route6 !== undefined

/** What has IPv6 alone comes after the others: few brokers are reached through it. */
const byMetric = (a: NetworkInterface, b: NetworkInterface) =>
  Number(hasRoute4(b)) - Number(hasRoute4(a)) || rankOf(a) - rankOf(b)
const rankOf = (one: NetworkInterface) => (hasRoute4(one) ? one.metric : one.route6?.metric) ?? 0

/**
 * Who reached something proves the way. Who did not proves nothing against a check of the daemon that found the internet: the
 * other end may be down.
 */
function reachOf(checked: Reach, found: Finding | undefined): Reach {
  if (found?.reached) return 'internet'
  if (found && checked === 'unknown') return 'local'
  return checked
}

function textOf(checked: Reach, found: Finding | undefined): string {
  if (found?.reached) return found.text
  const text = {
    unknown: '',
    none: 'the network daemon reached nothing through it',
    local: 'the network is there, the internet was not reached through it',
    portal: 'a login page answers instead of the internet: somebody has to log in there',
    internet: '',
  }[checked]
  return [text, found?.text].filter(Boolean).join('; ')
}

function downText({ name, state, reason, gateway }: NetworkInterface, leadsOut: boolean): string {
  if (state === 'connected') {
    if (!leadsOut) return 'the modem of the router has no data connection'
    return gateway === '' ? `${name} has no gateway` : `${name} has no default route`
  }
  return reason === '' ? `${name} is ${state}` : `${name} is ${state}: ${reason}`
}

/** What became of the ways out between two looks: `down` has them as they were, `up` as they are. */
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
