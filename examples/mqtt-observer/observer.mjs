#!/usr/bin/env node
// Monitors base stations over MQTT: online status, a summary of each document, and incoming RTCM.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { connect } from 'mqtt'

const help = `observer.mjs [URL] [--serial SN] [--ca FILE] [--cert FILE] [--key FILE]

  URL           the broker, mqtt://host:port or mqtts://host:port (default: mqtt://127.0.0.1:1883)
  --serial SN   one station only (default: every station)
  --ca, --cert, --key   PEM files for mqtts://

Prints the online status (y online, r restarting, q quit, L lost), a summary of each published document, and type and
length of the RTCM frames of each publication. Ctrl-C ends it.
Exit codes: 0 ended, 1 no connection, 2 usage error.
`

const statusNames = { y: 'online', r: 'restarting', q: 'quit', L: 'lost' }

function usage(message) {
  process.stderr.write(`observer.mjs: ${message}\nSee observer.mjs --help\n`)
  process.exit(2)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        serial: { type: 'string', default: '+' },
        ca: { type: 'string' },
        cert: { type: 'string' },
        key: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    return usage(error.message)
  }
}

function readPem(option, file) {
  try {
    return file && readFileSync(file)
  } catch (error) {
    return usage(`--${option}: ${error.message}`)
  }
}

const { values, positionals } = readArguments()
if (values.help) {
  process.stdout.write(help)
  process.exit(0)
}
const url = positionals[0] ?? 'mqtt://127.0.0.1:1883'
if (positionals.length > 1 || !/^mqtts?:\/\//.test(url))
  usage(`URL is mqtt://… or mqtts://…, not "${positionals.join(' ')}"`)

/** A publication is whole frames, one behind the other: 0xD3, 6 reserved bits, 10 bits of length, payload, 3 bytes of CRC. */
function framesOf(payload) {
  const frames = []
  for (let at = 0; at + 6 <= payload.length && payload[at] === 0xd3; ) {
    const length = (((payload[at + 1] & 3) << 8) | payload[at + 2]) + 6
    frames.push(`${(payload[at + 3] << 4) | (payload[at + 4] >> 4)} (${length})`)
    at += length
  }
  return frames
}

/** Every block may be missing: it depends on the plugins of the station. */
function summaryOf({ esp, gnss, base }) {
  const position = gnss?.pos?.t
    ? `${gnss.pos.lat.toFixed(7)} ${gnss.pos.lon.toFixed(7)} ${gnss.pos.alt.toFixed(2)} m`
    : 'no position'
  return [
    `version ${esp?.version ?? '?'}`,
    `up ${esp?.state?.uptime ?? '?'} s`,
    base?.state?.base ?? 'state unknown',
    `receiver ${gnss?.state?.status ?? 'none'}`,
    position,
    `${gnss?.state?.satuse ?? 0} satellites`,
    `${base?.state?.errors?.length ?? 0} errors`,
  ].join(', ')
}

const print = (serial, what, text) => process.stdout.write(`${serial}  ${what.padEnd(6)}  ${text}\n`)

const show = {
  online(serial, payload, client) {
    const status = payload.toString()
    print(serial, 'online', `${status} ${statusNames[status] ?? ''}`.trim())
    // A station publishes its document rarely: ask for it.
    if (status === 'y') client.publish(`base/${serial}/info/get`, '')
  },
  info(serial, payload) {
    print(serial, 'info', summaryOf(JSON.parse(payload.toString())))
  },
  drtk(serial, payload) {
    print(serial, 'drtk', framesOf(payload).join(' '))
  },
}

// Whoever reads this may end first, as `head` does.
process.stdout.on('error', () => process.exit(0))

const client = connect(url, {
  ca: readPem('ca', values.ca),
  cert: readPem('cert', values.cert),
  key: readPem('key', values.key),
  reconnectPeriod: 5_000,
})
let wasConnected = false
client.on('connect', () => {
  wasConnected = true
  print(url, 'broker', 'connected')
  client.subscribe(Object.keys(show).map((name) => `base/${values.serial}/${name}`))
})
client.on('message', (topic, payload) => {
  const [, serial, name] = topic.split('/')
  try {
    show[name]?.(serial, payload, client)
  } catch (error) {
    print(serial, name, `cannot be read: ${error.message}`)
  }
})
client.on('error', (error) => {
  process.stderr.write(`${url}: ${error.message || error.code}\n`)
  // If the broker never answered, the URL is probably wrong. After a lost connection, retry.
  if (!wasConnected) process.exit(1)
})
process.on('SIGINT', () => client.end(true, () => process.exit(0)))
