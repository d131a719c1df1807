/** The simulated UM980 on a line, the recordings of a real one, and one strict parser for what both say. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { um980Control } from '../../../plugins/simulated/simulated-um980/control.js'
import type { Um980Options } from '../../../plugins/simulated/simulated-um980/receiver.js'
import { SimulatedUm980 } from '../../../plugins/simulated/simulated-um980/receiver.js'
import { crc24q, decodeRtcm, geodeticToEcef, messageNumber } from '../../../runtime/lib/gnss/index.js'
import { commandControl, ReceiverLine } from '../../../runtime/lib/simulation/index.js'
import { ManualClock } from '../../harness/index.js'

// ── the parser ──────────────────────────────────────────────────────────────────────────────────────────────────────

export type Item =
  | { kind: 'line'; text: string }
  | { kind: 'ascii'; name: string; header: string[]; fields: string[] }
  | { kind: 'list'; text: string }
  | { kind: 'binary'; id: number; week: number; tow_ms: number; status: number; body: Buffer }
  | { kind: 'rtcm'; type: number; bytes: Uint8Array }

function crc32(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return crc >>> 0
}
const xor = (text: string) => [...text].reduce((sum, character) => sum ^ character.charCodeAt(0), 0)

/** Throws at the first byte that belongs to nothing, or at a wrong checksum. */
export function parse(given: Uint8Array): Item[] {
  const bytes = Buffer.from(given)
  const items: Item[] = []
  let at = 0
  const need = (condition: boolean, what: string) => {
    if (!condition) throw new Error(`${what} at ${at}: ${bytes.toString('latin1', at, at + 120)}`)
  }
  while (at < bytes.length) {
    if (bytes[at] === 0xd3) {
      const size = bytes.readUInt16BE(at + 1) + 6
      const frame = Uint8Array.from(bytes.subarray(at, at + size))
      need(frame.length === size && crc24q(frame, 0, size) === 0, 'RTCM')
      items.push({ kind: 'rtcm', type: messageNumber(frame), bytes: frame })
      at += size
    } else if (bytes[at] === 0xaa) {
      need(bytes.readUIntBE(at, 3) === 0xaa44b5, 'sync')
      const size = bytes.readUInt16LE(at + 6)
      const end = at + 24 + size
      need(crc32(bytes.subarray(at, end)) === bytes.readUInt32LE(end), 'CRC')
      const head = { id: bytes.readUInt16LE(at + 4), week: bytes.readUInt16LE(at + 10) }
      const body = Buffer.from(bytes.subarray(at + 24, end))
      items.push({ kind: 'binary', ...head, tow_ms: bytes.readUInt32LE(at + 12), status: bytes[at + 9], body })
      need(bytes[at + 8] === 0 && bytes.readUInt32LE(at + 16) === 17548 && bytes[at + 21] === 18, 'header')
      at = end + 4
    } else {
      const end = bytes.indexOf('\r\n', at)
      need(end > at && (bytes[at] === 0x24 || bytes[at] === 0x23), 'garbage')
      let text = bytes.toString('latin1', at, end)
      if (text.startsWith('#UNILOGLIST')) {
        const stop = bytes.indexOf('\r\n\r\n', at)
        text = bytes.toString('latin1', at, stop)
        items.push({ kind: 'list', text })
        at = stop + 4
        continue
      }
      const [, body = '', sum = ''] = /^([^*]+)\*([0-9A-F]{2}|[0-9a-f]{8})$/.exec(text) ?? []
      const expected = sum.length === 2 ? xor(body) : crc32(Buffer.from(body.slice(1), 'latin1'))
      need(sum !== '' && Number.parseInt(sum, 16) === expected, 'checksum')
      if (body.startsWith('$')) items.push({ kind: 'line', text: body })
      else {
        const [head = '', rest = ''] = body.slice(1).split(';')
        const [name = '', ...header] = head.split(',')
        items.push({ kind: 'ascii', name, header, fields: rest.split(',') })
      }
      at = end + 2
    }
  }
  return items
}

export const ids: Record<number, string> = {
  ...{ 37: 'VERSION', 2118: 'BESTNAV', 102: 'RECTIME', 954: 'STADOP', 2124: 'SATSINFO', 1041: 'BESTSAT' },
  ...{ 19: 'GPSUTC', 20: 'GALUTC', 22: 'BD3UTC' },
}
export const bodies = (items: readonly Item[], name: string) =>
  items.flatMap((item) => (item.kind === 'binary' && ids[item.id] === name ? [item.body] : []))

/** BESTNAV as documented by its recording: every field at its place. */
export function bestNav(body: Buffer) {
  t.equal(body.length, 120)
  const [lat, lon, height] = [8, 16, 24].map((at) => body.readDoubleLE(at))
  const [undulation, north, east, up] = [32, 40, 44, 48].map((at) => body.readFloatLE(at))
  return {
    ...{ status: body.readUInt32LE(0), type: body.readUInt32LE(4), datum: body.readUInt32LE(36) },
    ...{ lat, lon, height, undulation, sigma: [north, east, up] },
    ...{ tracked: body[64], used: body[65], velocity: [body.readUInt32LE(72), body.readUInt32LE(76)] },
  }
}

/** SATSINFO: exactly as many bytes as its satellites and signals need. */
export function satsInfo(body: Buffer) {
  const satellites = []
  let at = 6
  for (let left = body[0]; left > 0; left--) {
    const satellite = { prn: body[at], azimuth: body.readUInt16LE(at + 1), elevation: body[at + 3] }
    const count = body[at + 7]
    const signals = Array.from({ length: count }, (_, i) => [...body.subarray(at + 4 + 4 * i, at + 8 + 4 * i)])
    satellites.push({
      ...satellite,
      system: signals[0][0],
      cno: signals[0][1],
      ids: signals.map(([, , id]) => id),
      signals,
    })
    at += 4 + 4 * count
  }
  t.equal(at, body.length, 'nothing is left')
  return satellites
}

// ── the recordings ──────────────────────────────────────────────────────────────────────────────────────────────────

const folder = join(resolve(process.env.RTK_BASE_CAPTURES ?? '../shared/captures'), 'receivers')
export const noRecordings = existsSync(join(folder, 'unicore-um980-daemon.jsonl'))
  ? false
  : `no recordings in ${folder}`

interface Recorded {
  t: string
  tag?: string
  bytes: Buffer
  out: boolean
}
export function recording(name: string): Recorded[] {
  const lines = readFileSync(join(folder, `unicore-um980-${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => {
    const { t, tag, ascii, bin, out = false } = JSON.parse(line)
    return { t, tag, bytes: Buffer.from(bin ?? ascii, bin === undefined ? 'latin1' : 'hex'), out }
  })
}
export const received = (records: readonly Recorded[]) =>
  parse(
    Buffer.concat(
      records.filter(({ out, tag }) => !out && tag !== undefined && tag !== 'NOVB').map(({ bytes }) => bytes),
    ),
  )

// ── the simulator ───────────────────────────────────────────────────────────────────────────────────────────────────

const usual: Um980Options = {
  ...{
    boot: 'rover',
    lat: 52,
    lon: 4,
    alt: 50,
    seed: 7,
    com: 3,
    echo: false,
    geoidSeparation_m: 44.568,
    noise: 'quiet',
    tcp: 0,
  },
}

export async function simulate(options: Partial<Um980Options> = {}) {
  const clock = new ManualClock()
  const timers = { after: (ms: number, fn: () => void) => clock.timer(ms, fn), every: () => () => {} }
  const edges = { clock, timers }
  const line = new ReceiverLine(new SimulatedUm980({ ...usual, ...options }, edges), edges)
  const chunks: Uint8Array[] = []
  const open = (baud = 115_200) =>
    line.open(baud, { data: (chunk) => chunks.push(Uint8Array.from(chunk)), closed: () => {} })
  await open()
  line.device.powerOn()
  /** What comes meanwhile, parsed. */
  const during = async (ms: number) => {
    chunks.length = 0
    for (let left = ms; left > 0; left -= 1000) await clock.advance(Math.min(left, 1000))
    return parse(Buffer.concat(chunks))
  }
  const lines = (items: readonly Item[]) => items.flatMap((item) => (item.kind === 'line' ? [item.text] : []))
  return {
    ...{
      clock,
      line,
      um980: line.device,
      control: commandControl(line, um980Control(line.device)).receiver,
      open,
      during,
      chunks,
    },
    seconds: (count: number) => during(count * 1000),
    /** Past the start and the first fix. */
    ready: () => during(15_000),
    /** Sends lines in one write; what comes in the next 60 ms. */
    async ask(...commands: string[]) {
      line.write(Buffer.from(commands.map((command) => `${command}\r\n`).join('')))
      return during(60)
    },
    async lines(...commands: string[]) {
      line.write(Buffer.from(commands.map((command) => `${command}\r\n`).join('')))
      return lines(await during(60))
    },
    texts: lines,
  }
}

export const ok = (command: string) => `$command,${command},response: OK`
export const types = (items: readonly Item[]) => items.flatMap((item) => (item.kind === 'rtcm' ? [item.type] : []))
export const references = (items: readonly Item[]) =>
  items.flatMap((item) => {
    const message = item.kind === 'rtcm' ? decodeRtcm(item.bytes) : undefined
    return message?.type === 1005 || message?.type === 1006 ? [message] : []
  })
export const base = (rig: Awaited<ReturnType<typeof simulate>>, mode: string) =>
  rig.ask(mode, 'RTCM1005 1', 'RTCM1074 1')
export const truth = geodeticToEcef({ lat: 52, lon: 4, alt: 50 })
export const ecef = ({ x, y, z }: typeof truth) => `MODE BASE 7 ${x.toFixed(4)} ${y.toFixed(4)} ${z.toFixed(4)}`
