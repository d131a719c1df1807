/** Announced records: RFC 6763 service instances and the host name, RFC 6762 lifetimes. */
import type { Answer, StringAnswer } from 'dns-packet'

export interface Names {
  /** The name of the service instances, e.g. `RTK base SN1`. */
  readonly instance: string
  /** Host name without `.local`. */
  readonly host: string
}

export interface Announcement extends Names {
  readonly port: number
  /** The page is served by HTTPS alone. */
  readonly isSecure: boolean
  /** `key=value` */
  readonly txt: readonly string[]
  readonly ip4: readonly string[]
  readonly ip6: readonly string[]
}

export type OwnRecord = Answer & { readonly name: string; readonly ttl: number }

const servicesOf = ({ isSecure }: Announcement) => [`_http${isSecure ? 's' : ''}._tcp.local`, '_rtk-base._tcp.local']
const everyService = '_services._dns-sd._udp.local'
/** Records that hold a host name or an address, and the others (RFC 6762, section 10). */
const hostTtl_s = 120
const otherTtl_s = 4_500
const mostLabel_bytes = 63

export function namesFor(serial: string, attempt = 1): Names {
  const host = `rtk-base-${serial}`.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-')
  return attempt === 1
    ? { instance: label(`RTK base ${serial}`), host: host.slice(0, mostLabel_bytes) }
    : {
        instance: label(`RTK base ${serial}`, ` (${attempt})`),
        host: `${host.slice(0, mostLabel_bytes - 1 - String(attempt).length)}-${attempt}`,
      }
}

const label = (text: string, end = '') => text.slice(0, mostLabel_bytes - end.length) + end

/** Records of which only this station has any: probed for before they are announced. */
export function uniqueRecords(announcement: Announcement): OwnRecord[] {
  const { instance, host, port, txt, ip4, ip6 } = announcement
  const target = `${host}.local`
  const flush = true
  return [
    ...servicesOf(announcement).flatMap((service): OwnRecord[] => [
      {
        name: `${instance}.${service}`,
        type: 'SRV',
        ttl: hostTtl_s,
        flush,
        data: { port, target, priority: 0, weight: 0 },
      },
      { name: `${instance}.${service}`, type: 'TXT', ttl: otherTtl_s, flush, data: [...txt] },
    ]),
    ...addresses(target, 'A', ip4),
    ...addresses(target, 'AAAA', ip6),
  ]
}

/** Records that others have too, with other data. */
export function sharedRecords(announcement: Announcement): OwnRecord[] {
  return servicesOf(announcement).flatMap((service): OwnRecord[] => [
    { name: everyService, type: 'PTR', ttl: otherTtl_s, data: service },
    { name: service, type: 'PTR', ttl: otherTtl_s, data: `${announcement.instance}.${service}` },
  ])
}

const addresses = (name: string, type: 'A' | 'AAAA', all: readonly string[]): OwnRecord[] =>
  all.map((data) => ({ name, type, ttl: hostTtl_s, flush: true, data }) as StringAnswer & OwnRecord)

/** The data in one form, so that two records can be compared. */
export function dataOf(record: Answer): string {
  const { data } = record as { data?: unknown }
  if (record.type === 'TXT') return JSON.stringify([data].flat().map(String))
  if (record.type === 'SRV') {
    const { port, target, priority = 0, weight = 0 } = data as { [name: string]: unknown }
    return JSON.stringify([priority, weight, port, String(target).toLowerCase()])
  }
  return typeof data === 'string' ? data.toLowerCase() : JSON.stringify(data)
}

export const isSame = (a: Answer, b: Answer) =>
  a.type === b.type && a.name.toLowerCase() === b.name.toLowerCase() && dataOf(a) === dataOf(b)
