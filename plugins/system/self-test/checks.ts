/** What a person would check on a new or doubtful device, one line each, from what the station measures of itself. */
import { valueAt } from 'rtk-base/schemas'

/** What the checks look at: two documents some seconds apart, and what they do not show. */
export interface Evidence {
  before: Record<string, unknown>
  now: Record<string, unknown>
  seconds: number
  /** Why the store did not take a value and give it back; '' it did. */
  store: string
  free_bytes: number | undefined
  /** The hottest sensor; undefined: none. */
  temperature_celsius: number | undefined
  /** What the board's firmware reports as bits (Raspberry Pi); undefined: it reports nothing. */
  throttled: number | undefined
  /** System clock minus the receiver's time; undefined while no receiver told it. */
  clockOff_s: number | undefined
  /** The broker's name was resolved: ''; why not; undefined: no name to resolve. */
  dns: string | undefined
  /** UTC seconds. */
  now_s: number
}

export type Verdict = 'PASS' | 'FAIL' | 'SKIP'
export interface Line {
  verdict: Verdict
  name: string
  value: string
  limit: string
}

type Outcome = { ok: boolean; value: string } | undefined
interface Check {
  name: string
  limit: string
  /** Undefined: the device has no such thing, or no plugin for it. */
  run(evidence: Evidence): Outcome
}

const has = (evidence: Evidence, path: string) => valueAt(evidence.now, path) !== undefined
const text = (evidence: Evidence, path: string) => String(valueAt(evidence.now, path) ?? '')
const number = (document: Record<string, unknown>, path: string) => Number(valueAt(document, path) ?? 0)
const MiB = 1_048_576

export const checks: readonly Check[] = [
  { name: 'store', limit: 'a value is kept', run: ({ store }) => ({ ok: store === '', value: store || 'ok' }) },
  {
    name: 'disk-free',
    limit: '>= 50 MiB',
    run: ({ free_bytes: free }) =>
      free === undefined ? undefined : { ok: free >= 50 * MiB, value: `${Math.floor(free / MiB)} MiB` },
  },
  {
    name: 'memory-free',
    limit: '>= 32 MiB',
    run(evidence) {
      if (!has(evidence, 'esp.mem.spiram')) return undefined
      const free = number(evidence.now, 'esp.mem.spiram.free')
      return { ok: free >= 32 * MiB, value: `${Math.floor(free / MiB)} MiB` }
    },
  },
  {
    name: 'temperature',
    limit: '< 85 °C',
    run: ({ temperature_celsius: hot }) =>
      hot === undefined ? undefined : { ok: hot < 85, value: `${hot.toFixed(1)} °C` },
  },
  {
    name: 'supply',
    limit: 'no under-voltage since power-on',
    // Bit 0: under-voltage now, bit 16: since power-on.
    run: ({ throttled }) =>
      throttled === undefined ? undefined : { ok: (throttled & 0x10001) === 0, value: `0x${throttled.toString(16)}` },
  },
  {
    name: 'receiver',
    limit: 'identified',
    run(evidence) {
      if (!has(evidence, 'gnss.zed')) return undefined
      const [module, firmware, serial] = ['module', 'vfirmware', 'serial'].map((field) =>
        text(evidence, `gnss.zed.${field}`),
      )
      return { ok: module !== '' && serial !== '', value: `${module || 'no answer'} ${firmware} ${serial}`.trim() }
    },
  },
  {
    name: 'receiver-data',
    limit: '> 0 RTCM messages in 3 s',
    run({ before, now, seconds }) {
      if (valueAt(now, 'gnss.rtcm.stat') === undefined) return undefined
      const count = number(now, 'gnss.rtcm.stat.recvd') - number(before, 'gnss.rtcm.stat.recvd')
      return { ok: count > 0, value: `${count} in ${seconds} s` }
    },
  },
  {
    name: 'antenna',
    limit: 'neither short nor open',
    run(evidence) {
      const status = text(evidence, 'gnss.state.antenna.status')
      // A board without supervision says nothing of its antenna.
      return ['', 'init', 'unknown'].includes(status) ? undefined : { ok: status === 'ok', value: status }
    },
  },
  {
    name: 'satellites',
    limit: '>= 10 used',
    run(evidence) {
      if (!has(evidence, 'gnss.state.satuse')) return undefined
      const used = number(evidence.now, 'gnss.state.satuse')
      return { ok: used >= 10, value: `${used} of ${number(evidence.now, 'gnss.state.satvis')}` }
    },
  },
  {
    name: 'interference',
    limit: 'none',
    run(evidence) {
      const [jamming, spoofing] = [text(evidence, 'gnss.state.rf.jamming'), text(evidence, 'gnss.state.rf.spoofing')]
      const isKnown = jamming !== '' && jamming !== 'unknown'
      const isFeigned = spoofing === 'indicated' || spoofing === 'multiple'
      return isKnown
        ? { ok: jamming === 'ok' && !isFeigned, value: `jamming ${jamming}, spoofing ${spoofing}` }
        : undefined
    },
  },
  {
    name: 'reference',
    limit: '1005 goes out, status fixed',
    run(evidence) {
      if (!has(evidence, 'gnss.ref')) return undefined
      const sent = (valueAt(evidence.now, 'gnss.rtcm.msgs') as { id: number; since?: number }[] | undefined) ?? []
      const newest = sent
        .filter(({ id }) => id === 1005 || id === 1006)
        .map(({ since = Number.POSITIVE_INFINITY }) => since)
      const status = text(evidence, 'gnss.state.status')
      return { ok: status === 'fixed' && Math.min(...newest) < 60, value: status }
    },
  },
  {
    name: 'clock',
    limit: '< 2 s off the receiver',
    run: ({ clockOff_s: off }) =>
      off === undefined ? undefined : { ok: Math.abs(off) < 2, value: `${off.toFixed(1)} s` },
  },
  {
    name: 'ethernet',
    limit: 'cable and address, where enabled',
    run(evidence) {
      if (valueAt(evidence.now, 'eth.enabled') !== true) return undefined
      const [cable, ip] = [valueAt(evidence.now, 'eth.cable') === true, text(evidence, 'eth.ip')]
      return { ok: cable && ip !== '', value: cable ? ip || 'no address' : 'no cable' }
    },
  },
  {
    name: 'access-point',
    limit: 'on the air, where enabled',
    run(evidence) {
      if (valueAt(evidence.now, 'wap.enabled') !== true) return undefined
      const bssid = text(evidence, 'wap.bssid')
      return {
        ok: bssid !== '',
        value: bssid ? `${text(evidence, 'wap.ssid')}, channel ${text(evidence, 'wap.channel')}` : 'off the air',
      }
    },
  },
  {
    name: 'wifi-uplink',
    limit: 'joined, >= -75 dBm',
    run(evidence) {
      if (!has(evidence, 'sta')) return undefined
      const rssi = number(evidence.now, 'sta.rssi')
      const joined = text(evidence, 'sta.bssid') !== '' && text(evidence, 'sta.ip4') !== ''
      return { ok: joined && rssi >= -75, value: joined ? `${rssi} dBm` : 'not joined' }
    },
  },
  {
    name: 'dns',
    limit: 'mqtt-host is resolved',
    run: ({ dns }) => (dns === undefined ? undefined : { ok: dns === '', value: dns || 'ok' }),
  },
  {
    name: 'broker',
    limit: 'connected, where mqtt-en is 1',
    run(evidence) {
      const link = text(evidence, 'mqtt.state.link')
      if (link === '' || link === 'disabled') return undefined
      return {
        ok: link === 'up',
        value: link === 'up' ? text(evidence, 'mqtt.via') || 'up' : text(evidence, 'mqtt.state.error.text') || link,
      }
    },
  },
  {
    name: 'certificate',
    limit: '>= 14 days left',
    run(evidence) {
      const until_s = number(evidence.now, 'mqtt.state.cert.until')
      if (until_s === 0) return undefined
      const days = Math.floor((until_s - evidence.now_s) / 86_400)
      return { ok: days >= 14, value: `${days} days` }
    },
  },
  {
    name: 'router',
    limit: 'online',
    run(evidence) {
      const link = text(evidence, 'router.state.link')
      if (link === '') return undefined
      return {
        ok: link === 'online',
        value: link === 'online' ? text(evidence, 'router.swver') : text(evidence, 'router.state.error') || link,
      }
    },
  },
  {
    name: 'sim',
    limit: 'ready and registered',
    run(evidence) {
      if (!has(evidence, 'modem')) return undefined
      const [sim, net] = [text(evidence, 'modem.sim.state'), text(evidence, 'modem.state.network')]
      return { ok: sim === 'ready' && (net === 'home' || net === 'roaming'), value: `${sim}, ${net}` }
    },
  },
  {
    name: 'errors',
    limit: 'no entry in base.state.errors',
    run(evidence) {
      const errors = valueAt(evidence.now, 'base.state.errors') as { code: string }[] | undefined
      return errors && { ok: errors.length === 0, value: errors.map(({ code }) => code).join(' ') || 'none' }
    },
  },
]

export function runChecks(evidence: Evidence): Line[] {
  return checks.map(({ name, limit, run }) => {
    const outcome = run(evidence)
    if (!outcome) return { verdict: 'SKIP', name, value: '-', limit }
    return { verdict: outcome.ok ? 'PASS' : 'FAIL', name, value: outcome.value, limit }
  })
}

/** `PASS name value (limit)` a line, and the result. */
export function report(kind: string, lines: readonly Line[], tm: string): string {
  const count = (wanted: Verdict) => lines.filter(({ verdict }) => verdict === wanted).length
  const shown = lines.map(({ verdict, name, value, limit }) => `${verdict} ${name}: ${value} (${limit})`)
  const result = count('FAIL') === 0 ? 'PASS' : 'FAIL'
  return [
    `${kind} test${tm ? ` ${tm}` : ''}`,
    ...shown,
    `${result}: ${count('PASS')} passed, ${count('FAIL')} failed, ${count('SKIP')} skipped`,
  ].join('\n')
}
