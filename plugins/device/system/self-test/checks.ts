/** The checks of a new or doubtful device, one line each, from the station's own measurements. */
import { valueAt } from 'rtk-base/schemas'
import type { MqttLink, Receiver, Reception, StationError } from 'rtk-base/services'

/** Input of the checks. Missing or unknown values are undefined. */
export interface Evidence {
  /** The document, for equipment that no service describes: interfaces, radio, router and modem. */
  document: Record<string, unknown>
  seconds: number
  identity: Receiver['identity'] | undefined
  /** RTCM frames that the receiver sent in these seconds. */
  frames: number | undefined
  reception: Omit<Reception, 'onState'> | undefined
  /** Where the procedure stands, and how old the newest 1005 or 1006 is that went out. */
  reference: { status: string; age_s: number } | undefined
  link: Pick<MqttLink, 'enabled' | 'up' | 'via' | 'state' | 'failure' | 'certificateUntil_s'> | undefined
  errors: readonly Pick<StationError, 'code'>[]
  memoryFree_bytes: number
  /** Why the store did not take a value and give it back; '' it did. */
  store: string
  free_bytes: number | undefined
  /** The hottest sensor; undefined: none. */
  temperature_celsius: number | undefined
  /** Status bits of the board's firmware (Raspberry Pi); undefined: not reported. */
  throttled: number | undefined
  /** System clock minus the receiver's time; undefined while no receiver told it. */
  clockOff_s: number | undefined
  /** Result of resolving the broker's name: '' or the reason; undefined: no name to resolve. */
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

/** `ok` undefined: unknown, which is not ok. */
type Outcome = { ok: boolean | undefined; value: string } | undefined
interface Check {
  name: string
  limit: string
  /** Undefined: the device has no such thing, or no plugin for it. */
  run(evidence: Evidence): Outcome
}

const text = ({ document }: Evidence, path: string) => String(valueAt(document, path) ?? '')
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
    run: ({ memoryFree_bytes: free }) => ({ ok: free >= 32 * MiB, value: `${Math.floor(free / MiB)} MiB` }),
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
    run({ identity }) {
      if (!identity) return undefined
      const { module, firmware, serial } = identity
      // Not every receiver has a serial number.
      return { ok: module !== '', value: `${module || 'no answer'} ${firmware} ${serial}`.trim() }
    },
  },
  {
    name: 'receiver-data',
    limit: '> 0 RTCM messages in 3 s',
    run: ({ frames, seconds }) =>
      frames === undefined ? undefined : { ok: frames > 0, value: `${frames} in ${seconds} s` },
  },
  {
    name: 'antenna',
    limit: 'neither short nor open',
    run({ reception }) {
      if (!reception) return undefined
      const { antenna } = reception
      // A board without supervision does not report its antenna.
      return { ok: antenna === 'init' || antenna === 'unknown' ? undefined : antenna === 'ok', value: antenna }
    },
  },
  {
    name: 'satellites',
    limit: '>= 10 used',
    run({ reception }) {
      if (!reception) return undefined
      const { satellitesUsed: used, satellitesVisible: visible } = reception
      return used === undefined
        ? { ok: undefined, value: 'unknown' }
        : { ok: used >= 10, value: `${used} of ${visible ?? used}` }
    },
  },
  {
    name: 'interference',
    limit: 'none',
    run({ reception }) {
      if (!reception) return undefined
      const { jamming, jammed, spoofing, spoofed } = reception
      const isBad =
        jammed || spoofed || ['warning', 'critical'].includes(jamming) || /^(indicated|multiple)$/.test(spoofing)
      const isKnown = jamming !== 'unknown' && spoofing !== 'unknown'
      return { ok: isBad ? false : isKnown || undefined, value: `jamming ${jamming}, spoofing ${spoofing}` }
    },
  },
  {
    name: 'reference',
    limit: '1005 goes out, status fixed',
    run: ({ reference }) =>
      reference && { ok: reference.status === 'fixed' && reference.age_s < 60, value: reference.status },
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
      if (valueAt(evidence.document, 'eth.enabled') !== true) return undefined
      const [cable, ip] = [valueAt(evidence.document, 'eth.cable') === true, text(evidence, 'eth.ip')]
      return { ok: cable && ip !== '', value: cable ? ip || 'no address' : 'no cable' }
    },
  },
  {
    name: 'access-point',
    limit: 'on the air, where enabled',
    run(evidence) {
      if (valueAt(evidence.document, 'wap.enabled') !== true) return undefined
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
      if (!evidence.document.sta) return undefined
      const rssi = Number(text(evidence, 'sta.rssi'))
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
    run({ link }) {
      if (!link?.enabled) return undefined
      return { ok: link.up, value: link.up ? link.via || 'up' : link.failure?.text || (link.state ?? 'down') }
    },
  },
  {
    name: 'certificate',
    limit: '>= 14 days left',
    run({ link, now_s }) {
      const until_s = link?.certificateUntil_s ?? 0
      if (until_s === 0) return undefined
      const days = Math.floor((until_s - now_s) / 86_400)
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
      if (!evidence.document.modem) return undefined
      const [sim, net] = [text(evidence, 'modem.sim.state'), text(evidence, 'modem.state.network')]
      return { ok: sim === 'ready' && (net === 'home' || net === 'roaming'), value: `${sim}, ${net}` }
    },
  },
  {
    name: 'errors',
    limit: 'no entry in base.state.errors',
    run: ({ errors }) => ({ ok: errors.length === 0, value: errors.map(({ code }) => code).join(' ') || 'none' }),
  },
]

export function runChecks(evidence: Evidence): Line[] {
  return checks.map(({ name, limit, run }) => {
    const outcome = run(evidence)
    const { ok, value = '-' } = outcome ?? {}
    return { verdict: ok === undefined ? 'SKIP' : ok ? 'PASS' : 'FAIL', name, value, limit }
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
