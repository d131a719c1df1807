/**
 * Parses the output of `iw`. Its layout is not stable, so only text after a label is used; missing values and non-numbers are
 * "unknown". Layouts: iw 5.19.
 */
import type { RadioInterface, RadioLink, RadioStation, Regulatory } from 'rtk-base/services'

const mostStations = 256
const macPattern = /\b([0-9a-f]{2}(?::[0-9a-f]{2}){5})\b/i

/** The number that a text begins with; undefined without one. */
function number(text: string | undefined): number | undefined {
  const value = Number.parseFloat(text ?? '')
  return Number.isFinite(value) ? value : undefined
}

/** `label value` or `label: value` in an indented line. */
function field(text: string, label: string): string | undefined {
  return new RegExp(`^[ \\t]+${label}:?[ \\t]+(.*)$`, 'm').exec(text)?.[1]?.trim()
}

/** `iw` writes bytes that cannot be printed as `\xNN`. */
export function ssidOf(text: string): string {
  const bytes: number[] = []
  for (let i = 0; i < text.length; i++) {
    const hex = /^\\x([0-9a-f]{2})/i.exec(text.slice(i, i + 4))
    if (hex) {
      bytes.push(Number.parseInt(hex[1] ?? '', 16))
      i += 3
    } else bytes.push(...Buffer.from(text[i] ?? ''))
  }
  return Buffer.from(bytes).toString('utf8')
}

/** `iw dev NAME info`; undefined when it is not one. */
export function interfaceOf(text: string): RadioInterface | undefined {
  const mac = macPattern.exec(field(text, 'addr') ?? '')?.[1]?.toLowerCase()
  if (mac === undefined) return undefined
  const channel = field(text, 'channel') ?? ''
  return {
    mac,
    type: field(text, 'type') ?? '',
    ssid: ssidOf(field(text, 'ssid') ?? ''),
    channel: number(channel) ?? 0,
    frequency_mhz: number(/\((\d+) MHz\)/.exec(channel)?.[1]) ?? 0,
    width_mhz: number(/width: (\d+)/.exec(channel)?.[1]) ?? 0,
    centre_mhz: number(/center1: (\d+)/.exec(channel)?.[1]) ?? 0,
    txPower_dbm: number(field(text, 'txpower')) ?? 0,
    phy: `phy${number(field(text, 'wiphy')) ?? 0}`,
  }
}

/** `iw dev NAME station dump` */
export function stationsOf(text: string): RadioStation[] {
  const stations: RadioStation[] = []
  for (const block of text.split(/^(?=Station )/m)) {
    const mac = macPattern.exec(block.startsWith('Station ') ? (block.split('\n')[0] ?? '') : '')?.[1]?.toLowerCase()
    if (mac === undefined || stations.length >= mostStations) continue
    stations.push({
      mac,
      rssi_dbm: Math.round(number(field(block, 'signal')) ?? number(field(block, 'signal avg')) ?? 0),
      inactive_ms: Math.max(0, number(field(block, 'inactive time')) ?? 0),
    })
  }
  return stations
}

/** `iw dev NAME link`; undefined while it is not joined, or when the answer cannot be read. */
export function linkOf(text: string): RadioLink | undefined {
  const bssid = /^Connected to ([0-9a-f:]{17})/im.exec(text)?.[1]?.toLowerCase()
  if (bssid === undefined) return undefined
  return {
    bssid,
    ssid: ssidOf(field(text, 'SSID') ?? ''),
    frequency_mhz: number(field(text, 'freq')) ?? 0,
    rssi_dbm: Math.round(number(field(text, 'signal')) ?? 0),
  }
}

const lowest_mhz = 2_412
const step_mhz = 5
const halfWidth_mhz = 10

/** The channel of a frequency; 0 for one outside the bands. */
export function channelOf(frequency_mhz: number): number {
  if (frequency_mhz === 2_484) return 14
  if (frequency_mhz >= lowest_mhz && frequency_mhz <= 2_472) return (frequency_mhz - 2_407) / step_mhz
  return frequency_mhz > 5_000 && frequency_mhz < 5_950 ? (frequency_mhz - 5_000) / step_mhz : 0
}

/**
 * `iw reg get`: the part of this radio if it has one, otherwise the common part. A channel counts where 20 MHz around its middle lie in
 * ranges on which a station may begin to send (not `NO-IR`, `PASSIVE-SCAN`).
 */
export function regulatoryOf(text: string, phy = ''): Regulatory | undefined {
  const parts = text.split(/^(?=global|phy#)/m)
  const own = parts.find((part) => phy !== '' && part.startsWith(`phy#${phy.replace(/^phy/, '')}`))
  const part = own ?? parts.find((one) => one.startsWith('global')) ?? parts.find((one) => one.includes('country'))
  const country = /^country ([0-9A-Z]{2}):/m.exec(part ?? '')?.[1]
  if (part === undefined || country === undefined) return undefined
  const ranges = [...part.matchAll(/\((\d+) - (\d+) @ \d+\), \([^,()]+, (\d+)\)(.*)$/gm)].map(
    ([, from, to, power, flags = '']) => ({
      from_mhz: Number(from),
      to_mhz: Number(to),
      power_dbm: Number(power),
      isForAp: !/NO-IR|NO-IBSS|PASSIVE-SCAN|DISABLED/.test(flags),
    }),
  )
  const usable = ranges.filter(({ isForAp, from_mhz, to_mhz }) => isForAp && from_mhz < 2_500 && to_mhz > 2_400)
  let maxChannel = 0
  for (let channel = 1; channel <= 13; channel++) {
    const centre_mhz = lowest_mhz + step_mhz * (channel - 1)
    const fits = usable.some(
      ({ from_mhz, to_mhz }) => from_mhz <= centre_mhz - halfWidth_mhz && to_mhz >= centre_mhz + halfWidth_mhz,
    )
    if (fits) maxChannel = channel
  }
  return { country, maxChannel, maxTxPower_dbm: Math.max(0, ...usable.map(({ power_dbm }) => power_dbm)) }
}

/**
 * `iw phy NAME info`: whether an access point and a station may run at once (`valid interface combinations`), and on how many
 * channels.
 */
export function combinationsOf(text: string): { canBoth: boolean; channels: number } {
  const from = text.indexOf('valid interface combinations:')
  if (from < 0) return { canBoth: false, channels: 0 }
  const after = text.slice(from).split('\n').slice(1)
  const end = after.findIndex((line) => line.trim() !== '' && !/^\s+(\*|total|#)|^\s{8,}|^\t\t/.test(line))
  const list = (end < 0 ? after : after.slice(0, end)).join(' ')
  let channels = 0
  for (const combination of list.split('*').slice(1)) {
    const groups = [...combination.matchAll(/#\{([^}#]*)\} <= (\d+)/g)].map(([, names = '', most]) => ({
      names: names.split(',').map((name) => name.trim()),
      most: Number(most),
    }))
    const total = Number(/total <= (\d+)/.exec(combination)?.[1] ?? 0)
    const withAp = groups.filter(({ names }) => names.includes('AP'))
    const withStation = groups.filter(({ names }) => names.includes('managed'))
    const fits = withAp.some((ap) =>
      withStation.some((station) => ap !== station || (ap.most >= 2 && ap.names.includes('managed'))),
    )
    if (fits && total >= 2) channels = Math.max(channels, Number(/#channels <= (\d+)/.exec(combination)?.[1] ?? 1))
  }
  return { canBoth: channels > 0, channels }
}
