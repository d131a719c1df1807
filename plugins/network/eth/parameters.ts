import type { Caller, ConfigKey, PluginContext } from 'rtk-base/plugin'
import type { FixedAddress, NetworkInterface } from 'rtk-base/services'
import { Type } from 'typebox'
import { type Entered, faultOf, fixedAddressOf } from './address.js'

export interface Parameters {
  readonly names: readonly string[]
  isEnabled(): boolean
  /** Undefined: as the profile of NetworkManager says. */
  fixed(): FixedAddress | undefined
}

interface Edges {
  reaches(caller: Caller): boolean
  /** The other interfaces of the machine. */
  others(): readonly NetworkInterface[]
}

export function defineParameters({ config }: PluginContext, { reaches, others }: Edges): Parameters {
  const trial = { reaches }
  const enabled: ConfigKey<number> = config.define('eth-en', SwitchSchema, { default: 1, title: 'Cable', trial })
  const [address, gateway, dns] = (
    [
      ['eth-address', 'Cable: fixed address', AddressSchema],
      ['eth-gateway', 'Cable: gateway', GatewaySchema],
      ['eth-dns', 'Cable: DNS servers', DnsSchema],
    ] as const
  ).map(([name, title, schema]) => config.define(name, schema, { default: '', title, trial })) as [
    ConfigKey<string>,
    ConfigKey<string>,
    ConfigKey<string>,
  ]
  config.rule([address.name, gateway.name, dns.name], (get, changed) => {
    const wanted = (key: ConfigKey<string>) => String(get(key.name))
    const isFollowing = !changed.has(dns.name) && wanted(dns) === gateway.get()
    // The DNS server of an earlier router goes with it.
    const servers = isFollowing ? '' : wanted(dns)
    const entered: Entered = { address: wanted(address), gateway: wanted(gateway), dns: servers }
    // Back to DHCP is one entry for a person, not three.
    const isBack = entered.address === '' && changed.has(address.name)
    const left = [gateway, dns].filter((key) => wanted(key) !== '' && !changed.has(key.name))
    if (isBack && left.length > 0 && [gateway, dns].every((key) => !changed.has(key.name) || wanted(key) === ''))
      return { set: Object.fromEntries(left.map((key) => [key.name, ''])) }
    const networks = others().flatMap(({ name, ip4 }) => ip4.map((own) => ({ name, ...own })))
    const fault = faultOf(entered, networks)
    if (fault) return fault
    // Without a name server no caster and no broker is found; routers of small networks are one.
    return entered.dns === '' && entered.gateway !== wanted(dns) ? { set: { [dns.name]: entered.gateway } } : undefined
  })
  return {
    names: [enabled.name, address.name, gateway.name, dns.name],
    isEnabled: () => enabled.get() === 1,
    fixed: () => fixedAddressOf({ address: address.get(), gateway: gateway.get(), dns: dns.get() }),
  }
}

const SwitchSchema = Type.Integer({
  minimum: 0,
  maximum: 1,
  description: 'Off: the port is down, and is taken down again if another program brings it up',
})
const AddressSchema = Type.String({
  maxLength: 18,
  pattern: '^(|[0-9.]{7,15}(/[0-9]{1,2})?)$',
  description: 'e.g. 192.168.1.20/24 (24 if there is no prefix); empty: the network assigns an address (DHCP)',
})
const GatewaySchema = Type.String({
  maxLength: 15,
  pattern: '^[0-9.]*$',
  description:
    'address of the router in the same network (only with a fixed address); empty: no default route through this port',
})
const DnsSchema = Type.String({
  maxLength: 63,
  pattern: '^[0-9., ]*$',
  description: 'at most three addresses, separated by commas (only with a fixed address); empty: the gateway',
})
