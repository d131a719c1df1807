/** Our profiles as the daemon stores them: pure. Keys and types: nm-settings-dbus(5). */

import { createHash } from 'node:crypto'
import { variant } from 'rtk-base/link'
import type { AccessPointProfile, FixedAddress, StationProfile } from 'rtk-base/services'
import { entryOf, listOf, numberOf, textOf } from './object-model.js'

/** `a{sa{sv}}` */
export type Settings = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export type ProfileKind = 'eth' | 'ap' | 'sta'
export const profileId = (kind: ProfileKind, name: string): string => `rtk-base-${kind}-${name}`

/** Always the same for one id, so that our profile is found without reading all of them. */
export function uuidOf(id: string): string {
  const bytes = createHash('sha256').update(`rtk-base profile ${id}`).digest().subarray(0, 16)
  bytes[6] = (bytes[6] & 0x0f) | 0x80
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const connection = (kind: ProfileKind, name: string, type: string) => ({
  id: variant('s', profileId(kind, name)),
  uuid: variant('s', uuidOf(profileId(kind, name))),
  type: variant('s', type),
  'interface-name': variant('s', name),
  autoconnect: variant('b', true),
})

/** Before the profiles that the machine has for the port. */
const fixedPriority = 100

/** @param fixed undefined: DHCP */
export const wiredSettings = (name: string, fixed?: FixedAddress): Settings => ({
  connection: {
    ...connection('eth', name, '802-3-ethernet'),
    ...(fixed && { 'autoconnect-priority': variant('i', fixedPriority) }),
  },
  ipv4: fixed ? manual(fixed) : { method: variant('s', 'auto') },
  ipv6: { method: variant('s', 'auto') },
})

const manual = ({ address, prefix, gateway, dns }: FixedAddress) => ({
  method: variant('s', 'manual'),
  'address-data': variant('aa{sv}', [{ address: variant('s', address), prefix: variant('u', prefix) }]),
  ...(gateway !== '' && { gateway: variant('s', gateway) }),
  // `dns-data`, its successor, is missing in NetworkManager 1.42.
  ...(dns.length > 0 && { dns: variant('au', dns.map(networkOrder)) }),
})

/** The bytes of the address in their order, read as a number of this machine. */
export const networkOrder = (address: string): number =>
  new Uint32Array(Uint8Array.from(address.split('.').map(Number)).buffer)[0] ?? 0

/** Whether a stored section `ipv4` (values without their types) has this fixed address. */
export function hasAddress(ipv4: Readonly<Record<string, unknown>>, { address, prefix, gateway, dns }: FixedAddress) {
  const [own] = listOf(ipv4['address-data']).map(entryOf)
  return (
    ipv4.method === 'manual' &&
    own?.address === address &&
    own.prefix === prefix &&
    textOf(ipv4.gateway) === gateway &&
    listOf(ipv4.dns).map(numberOf).join() === dns.map(networkOrder).join()
  )
}

export function accessPointSettings(name: string, { ssid, password, channel, address }: AccessPointProfile): Settings {
  const [ip = '', prefix = '24'] = address.split('/')
  const own = { address: variant('s', ip), prefix: variant('u', Number(prefix)) }
  return {
    connection: connection('ap', name, '802-11-wireless'),
    '802-11-wireless': {
      ssid: variant('ay', Buffer.from(ssid)),
      mode: variant('s', 'ap'),
      band: variant('s', 'bg'),
      channel: variant('u', channel),
    },
    // For old clients: WPA2 with CCMP, without protected management frames.
    ...(password === ''
      ? {}
      : {
          '802-11-wireless-security': {
            'key-mgmt': variant('s', 'wpa-psk'),
            psk: variant('s', password),
            proto: variant('as', ['rsn']),
            pairwise: variant('as', ['ccmp']),
            group: variant('as', ['ccmp']),
            pmf: variant('i', 1),
          },
        }),
    ipv4: { method: variant('s', 'shared'), 'address-data': variant('aa{sv}', [own]) },
    // No addresses are assigned there, and a caller with a link-local address would not be recognised as a client.
    ipv6: { method: variant('s', 'disabled') },
  }
}

export const stationSettings = (name: string, { ssid, password, hidden }: StationProfile): Settings => ({
  connection: connection('sta', name, '802-11-wireless'),
  '802-11-wireless': {
    ssid: variant('ay', Buffer.from(ssid)),
    mode: variant('s', 'infrastructure'),
    ...(hidden && { hidden: variant('b', true) }),
  },
  // wpa-psk: WPA2 and WPA3 personal, whichever the network has.
  ...(password === ''
    ? {}
    : { '802-11-wireless-security': { 'key-mgmt': variant('s', 'wpa-psk'), psk: variant('s', password) } }),
  ipv4: { method: variant('s', 'auto') },
  ipv6: { method: variant('s', 'auto') },
})
