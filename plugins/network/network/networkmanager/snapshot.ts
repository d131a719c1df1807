/** The interfaces of the machine, as they follow from the daemon's objects: pure. */

import { readRecordSync } from 'rtk-base/files'
import type { Neighbour, NetworkInterface, ScannedNetwork, WifiState } from 'rtk-base/services'
import { reasonText } from '../reasons.js'
import {
  capabilityAp,
  connectivities,
  deviceStates,
  deviceTypeVeth,
  interfaces as names,
  rootPath,
  security,
  wifiModes,
} from './names.js'
import { bytesOf, entryOf, listOf, numberOf, type ObjectModel, type Properties, textOf } from './object-model.js'

/** @param lastReason why the last activation of a device failed: the daemon forgets it when the device is ready again */
export function interfacesOf(model: ObjectModel, lastReason: (path: string) => number): NetworkInterface[] {
  return devicePaths(model)
    .map((path) => interfaceOf(model, path, lastReason(path)))
    .sort((a, b) => a.name.localeCompare(b.name))
}

export function devicePath(model: ObjectModel, name: string): string | undefined {
  return devicePaths(model).find((path) => textOf(model.of(path, names.device).Interface) === name)
}

function devicePaths(model: ObjectModel): string[] {
  return model.paths(names.device).filter((path) => {
    const { DeviceType, State } = model.of(path, names.device)
    // Ends of containers that are none of the daemon's business.
    if (DeviceType === deviceTypeVeth && deviceStates[numberOf(State)] === 'unmanaged') return false
    return model.hasInterface(path, names.wired) || model.hasInterface(path, names.wireless)
  })
}

function interfaceOf(model: ObjectModel, path: string, lastReason: number): NetworkInterface {
  const device = model.of(path, names.device)
  const isWifi = model.hasInterface(path, names.wireless)
  const link = model.of(path, isWifi ? names.wireless : names.wired)
  const state = deviceStates[numberOf(device.State)] ?? 'unavailable'
  const isUp = state === 'connected'
  const [, now = 0] = listOf(device.StateReason).map(numberOf)
  // The kernel's view: while a device disconnects, its addresses and routes are still in use.
  const isActive = isUp || state === 'connecting' || state === 'disconnecting'
  const hasAddress = isUp || state === 'disconnecting'
  const ip4 = hasAddress ? model.of(textOf(device.Ip4Config), names.ip4) : {}
  const ip6 = hasAddress ? model.of(textOf(device.Ip6Config), names.ip6) : {}
  const metric6 = metricOf(ip6, '::')
  const wifi = isWifi ? wifiOf(model, link, isUp || state === 'connecting') : undefined
  return {
    name: textOf(device.Interface),
    kind: isWifi ? 'wifi' : 'ethernet',
    mac: (textOf(device.HwAddress) || textOf(link.HwAddress)).toLowerCase(),
    driver: textOf(device.Driver),
    state,
    reason: isUp || state === 'connecting' ? '' : reasonText(now || lastReason),
    carrier: isWifi ? wifi?.bssid !== '' : link.Carrier === true,
    ip4: addressesOf(ip4),
    ip6: addressesOf(ip6),
    gateway: textOf(ip4.Gateway),
    dns: listOf(ip4.NameserverData).map((one) => textOf(entryOf(one).address)),
    metric: metricOf(ip4, '0.0.0.0'),
    ...(metric6 === undefined ? {} : { route6: { gateway: textOf(ip6.Gateway), metric: metric6 } }),
    reach: reachOf(model, device, isUp, metric6 === undefined || addressesOf(ip4).length > 0),
    profile: isActive ? textOf(model.of(textOf(device.ActiveConnection), names.active).Id) : '',
    ...(wifi ? { wifi } : {}),
  }
}

const addressesOf = ({ AddressData }: Properties) =>
  listOf(AddressData).map((one) => {
    const { address, prefix } = entryOf(one)
    return { address: textOf(address), prefix: numberOf(prefix) }
  })

/** The metric of the default route. */
function metricOf({ RouteData }: Properties, everywhere: string): number | undefined {
  const metrics = listOf(RouteData)
    .map(entryOf)
    .filter(({ dest, prefix }) => dest === everywhere && prefix === 0)
    .map(({ metric }) => numberOf(metric))
  return metrics.length === 0 ? undefined : Math.min(...metrics)
}

/** With the check disabled the daemon reports "full" without checking. */
function reachOf(model: ObjectModel, device: Properties, isUp: boolean, hasIp4: boolean): NetworkInterface['reach'] {
  if (!isUp) return 'none'
  const isChecked = model.of(rootPath, names.root).ConnectivityCheckEnabled === true
  return isChecked
    ? (connectivities[numberOf(hasIp4 ? device.Ip4Connectivity : device.Ip6Connectivity)] ?? 'unknown')
    : 'unknown'
}

function wifiOf(model: ObjectModel, wireless: Properties, isActive: boolean): WifiState {
  const point = isActive ? model.of(textOf(wireless.ActiveAccessPoint), names.accessPoint) : {}
  const isAp = wireless.Mode === wifiModes.ap
  return {
    mode: !isActive ? 'none' : isAp ? 'ap' : 'station',
    canBeAp: (numberOf(wireless.WirelessCapabilities) & capabilityAp) !== 0,
    ssid: bytesOf(point.Ssid),
    bssid: textOf(point.HwAddress).toLowerCase(),
    channel: channelOf(numberOf(point.Frequency)),
  }
}

/** The networks that a radio received last. */
export function scannedBy(model: ObjectModel, path: string): ScannedNetwork[] {
  return listOf(model.of(path, names.wireless).AccessPoints)
    .map((point) => model.of(textOf(point), names.accessPoint))
    .filter(({ HwAddress, Mode }) => textOf(HwAddress) !== '' && Mode !== wifiModes.ap)
    .map((point) => ({
      ssid: bytesOf(point.Ssid),
      bssid: textOf(point.HwAddress).toLowerCase(),
      channel: channelOf(numberOf(point.Frequency)),
      // The daemon maps −100…−40 dBm to 0…100 %.
      rssi: Math.round(-100 + 0.6 * numberOf(point.Strength)),
      auth: authOf(point),
    }))
}

function authOf({ Flags, WpaFlags, RsnFlags }: Properties): ScannedNetwork['auth'] {
  const [flags, wpa, rsn] = [Flags, WpaFlags, RsnFlags].map(numberOf)
  if (((wpa | rsn) & security.eap) !== 0) return 'wpa-eap'
  if ((rsn & security.psk) !== 0) return 'wpa2-psk'
  if ((rsn & security.sae) !== 0) return 'wpa3-sae'
  if ((wpa & security.psk) !== 0) return 'wpa-psk'
  return (flags & security.privacy) !== 0 ? 'wep' : 'open'
}

/** IEEE 802.11, 2.4 and 5 GHz. */
export function channelOf(frequency_mhz: number): number {
  if (frequency_mhz === 2484) return 14
  if (frequency_mhz >= 2412 && frequency_mhz < 2484) return (frequency_mhz - 2407) / 5
  return frequency_mhz >= 5000 && frequency_mhz < 5900 ? (frequency_mhz - 5000) / 5 : 0
}

const incomplete = '00:00:00:00:00:00'

/** The neighbours on an interface, of the text of `/proc/net/arp`. */
export function neighboursOf(text: string, name: string): Neighbour[] {
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , mac, , device]) => device === name && mac !== undefined && mac !== incomplete)
    .map(([address = '', , , mac = '']) => ({ address, mac: mac.toLowerCase() }))
}

/** As the machine has them; empty where it has no such file. */
export function readNeighbours(name: string): Neighbour[] {
  try {
    return neighboursOf(readRecordSync('/proc/net/arp'), name)
  } catch {
    return []
  }
}
