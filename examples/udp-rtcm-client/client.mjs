#!/usr/bin/env node
// Takes RTCM over UDP from a base station. Needs Node alone.
import { createSocket } from 'node:dgram'
import { createWriteStream } from 'node:fs'
import { isIPv6 } from 'node:net'
import { parseArgs } from 'node:util'

const help = `client.mjs [HOST:PORT] [--name TEXT] [--out FILE] [--frames N]

  HOST:PORT     the station (default: 127.0.0.1:2102)
  --name TEXT   what the station lists this client as, up to 32 characters (default: udp-rtcm-client)
  --out FILE    appends every valid frame, raw
  --frames N    ends after N valid frames

Prints one line per frame: message type, length in bytes, station id. Ctrl-C ends it.
Exit codes: 0 ended, 1 no connection, 2 usage error.
`

/** A subscription lasts 60 s, and a datagram may get lost. */
const renewal_ms = 30_000
/** After a refusal. */
const again_ms = 2_000

/** CRC-24Q (RTCM 10403.3, section 4.2), bit by bit: a base station sends some kilobytes a second. */
function crc24q(bytes) {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 16
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x800000 ? ((crc << 1) ^ 0x1864cfb) & 0xffffff : crc << 1
  }
  return crc
}

/** One datagram is one frame: 0xD3, 6 reserved bits, 10 bits of length, payload, CRC. Undefined when it is not valid. */
function readFrame(datagram) {
  if (datagram.length < 6 || datagram[0] !== 0xd3) return undefined
  const length = ((datagram[1] & 3) << 8) | datagram[2]
  if (datagram.length !== length + 6) return undefined
  if (crc24q(datagram.subarray(0, length + 3)) !== datagram.readUIntBE(length + 3, 3)) return undefined
  // Nearly every message begins with its number (12 bits) and the station id (12 bits).
  const type = length >= 2 ? (datagram[3] << 4) | (datagram[4] >> 4) : 0
  const station = length >= 3 ? ((datagram[4] & 15) << 8) | datagram[5] : 0
  return { type, station }
}

function usage(message) {
  process.stderr.write(`client.mjs: ${message}\nSee client.mjs --help\n`)
  process.exit(2)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        name: { type: 'string', default: 'udp-rtcm-client' },
        out: { type: 'string' },
        frames: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    return usage(error.message)
  }
}

// Whoever reads this may end first, as `head` does.
process.stdout.on('error', () => process.exit(0))

const { values, positionals } = readArguments()
if (values.help) {
  process.stdout.write(help)
  process.exit(0)
}
const address = positionals[0] ?? '127.0.0.1:2102'
const [, host, portText] = /^\[?(.+?)\]?:(\d+)$/.exec(address) ?? []
const port = Number(portText)
if (positionals.length > 1 || !host || port < 1 || port > 65_535) usage(`HOST:PORT, not "${positionals.join(' ')}"`)
const wanted = values.frames === undefined ? Number.POSITIVE_INFINITY : Number(values.frames)
if (!(wanted > 0)) usage(`--frames takes a number above 0, not "${values.frames}"`)

const out = values.out && createWriteStream(values.out, { flags: 'a' })
const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
let valid = 0
let invalid = 0
let ended = false

function subscribe() {
  if (!ended) socket.send(values.name)
}

function end(code) {
  ended = true
  socket.close()
  clearInterval(renewal)
  if (out) out.end()
  process.stdout.write(`${valid} frames, ${invalid} invalid datagrams\n`)
  process.exitCode = code
}

out?.on('error', (error) => {
  process.stderr.write(`${values.out}: ${error.message}\n`)
  process.exit(1)
})
socket.on('error', (error) => {
  process.stderr.write(`${address}: ${error.message}\n`)
  // Nothing ever came: a slip of the pen. A station that restarts refuses for a moment and comes back.
  if (valid === 0) end(1)
  else setTimeout(subscribe, again_ms).unref()
})
socket.on('message', (datagram) => {
  if (valid >= wanted) return
  const frame = readFrame(datagram)
  if (!frame) {
    invalid += 1
    process.stdout.write(`not a valid frame: ${datagram.length} bytes\n`)
    return
  }
  valid += 1
  const { type, station } = frame
  process.stdout.write(`${type}  ${String(datagram.length).padStart(4)} bytes  station ${station}\n`)
  if (out) out.write(datagram)
  if (valid >= wanted) end(0)
})
// A connected socket takes datagrams of the station alone, and learns of a port that nobody listens on.
socket.connect(port, host, (error) => {
  if (error) socket.emit('error', error)
  else subscribe()
})
const renewal = setInterval(subscribe, renewal_ms)
process.on('SIGINT', () => end(0))
