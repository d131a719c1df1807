import { ecefToGeodetic, legacyConstellation } from 'rtk-base/gnss'
import { normalAddress } from 'rtk-base/link'
import { casterLine, networkLine, type StreamRow, streamLine } from 'rtk-base/ntrip'
import type { MountPoint } from './mount.js'

/** Tens of the MSM message numbers (1004 and 1012 count with them), and the names of the systems in source tables. */
const systems: readonly (readonly [number, string])[] = [
  [107, 'GPS'],
  [108, 'GLO'],
  [109, 'GAL'],
  [110, 'SBAS'],
  [111, 'QZS'],
  [112, 'BDS'],
  [113, 'IRS'],
]

interface Reached {
  readonly localAddress?: string | undefined
  readonly localPort?: number | undefined
}

export interface TableFacts {
  /** {SN}: the network of the station's own mountpoints. */
  serial: string
  /** As the client reaches the caster. */
  host: string
  port: number
  place: string
  country: string
  generator: string
  needsLogin: boolean
}

/** Where the client reached the caster: by its `Host`, which knows of names and of ports that are forwarded; else by the connection. */
export function reachedAt(header: string | undefined, { localAddress = '', localPort = 0 }: Reached) {
  const [, name, port] = /^(\[[0-9a-f:.]+\]|[\w.-]{1,253})(?::(\d{1,5}))?$/i.exec(header ?? '') ?? []
  return { host: name ?? normalAddress(localAddress), port: Number(port ?? localPort) }
}

/** The rows of a table: the caster, its network, and its mountpoints. */
export function tableLines(mounts: readonly MountPoint[], facts: TableFacts): string[] {
  const { serial, host, port, place, country, needsLogin } = facts
  const arp = mounts.find(({ unverified }) => !unverified)?.arp
  const { lat, lon } = arp ? ecefToGeodetic(arp) : { lat: 0, lon: 0 }
  return [
    casterLine({ host, port, identifier: place, operator: serial, country, lat, lon }),
    networkLine(serial, place, needsLogin ? 'B' : 'N'),
    ...mounts.map((mount) => streamLine(rowOf(mount, facts))),
  ]
}

/** As measured: messages that are not sent any more are not listed. */
export function rowOf(mount: MountPoint, { serial, place, country, generator, needsLogin }: TableFacts): StreamRow {
  const { messages, bitrate, carrier } = mount.contents
  const { lat, lon } = mount.arp ? ecefToGeodetic(mount.arp) : { lat: 0, lon: 0 }
  const has = (family: number) => messages.some(({ type }) => familyOf(type) === family)
  return {
    mount: mount.name,
    identifier: mount.unverified ? mount.name : (mount.place ?? place),
    // Clients exist that refuse any other 3.x.
    format: 'RTCM 3.2',
    details: messages.map(({ type, interval_s: s }) => (s === undefined ? `${type}` : `${type}(${s})`)).join(','),
    carrier,
    systems: systems
      .filter(([family]) => has(family))
      .map(([, name]) => name)
      .join('+'),
    network: mount.unverified ? 'NONE' : serial,
    country,
    lat,
    lon,
    nmea: mount.needsPosition ? 1 : 0,
    solution: mount.needsPosition ? 1 : 0,
    generator: mount.generator || generator,
    authentication: needsLogin ? 'B' : 'N',
    bitrate,
    misc: [mount.unverified ? 'unverified' : '', ...glonassNotes(messages.map(({ type }) => type))]
      .filter(Boolean)
      .join(', '),
  }
}

function familyOf(type: number): number {
  const constellation = legacyConstellation(type)
  if (constellation) return constellation === 'GPS' ? 107 : 108
  return Math.floor(type / 10)
}

/** Missing information without which a rover cannot use the GLONASS observations. */
function glonassNotes(types: readonly number[]): string[] {
  const glonass = types.filter((type) => Math.floor(type / 10) === 108)
  if (glonass.length === 0) return []
  // MSM5 and MSM7 have them (DF419); rovers also find them in the ephemerides (1020).
  const hasChannels = glonass.some((type) => type === 1085 || type === 1087) || types.includes(1020)
  const missing = [...(hasChannels ? [] : ['frequency channels']), ...(types.includes(1230) ? [] : ['1230'])]
  return missing.length === 0 ? [] : [`GLONASS without ${missing.join(' and ')}`]
}
