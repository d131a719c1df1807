#!/usr/bin/env node
// Lets only signed RTCM through: chain, station, signature, replays and gaps.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { connect } from 'mqtt'
import { Verifier } from './verify.mjs'

const help = `verifier.mjs URL --authority FILE [--serial SN] [--max-age S] [--raw] [--ca FILE] [--cert FILE] [--key FILE]

  URL               the broker, mqtt://host:port or mqtts://host:port
  --authority FILE  PEM file of the authorities that stations' certificates are from
  --serial SN       one station only (default: every station)
  --max-age S       refuse what is older, seconds (default: 30)
  --raw             write the RTCM that is good to the standard output, and the lines to the standard error
  --ca, --cert, --key   PEM files for mqtts://

One line per publication: good, with gaps, or why it was refused. Ctrl-C ends it.
Exit codes: 0 ended, 1 no connection, 2 usage error.
`

function usage(message) {
  process.stderr.write(`verifier.mjs: ${message}\nSee verifier.mjs --help\n`)
  process.exit(2)
}

function readArguments() {
  const text = { type: 'string' }
  const options = {
    authority: text,
    serial: { type: 'string', default: '+' },
    'max-age': { type: 'string', default: '30' },
    raw: { type: 'boolean', default: false },
    ca: text,
    cert: text,
    key: text,
    help: { type: 'boolean', short: 'h', default: false },
  }
  try {
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    return usage(error.message)
  }
}

function readPem(option, file) {
  try {
    return file && readFileSync(file, 'utf8')
  } catch (error) {
    return usage(`--${option}: ${error.message}`)
  }
}

const { values, positionals } = readArguments()
if (values.help) {
  process.stdout.write(help)
  process.exit(0)
}
const [url] = positionals
if (positionals.length !== 1 || !/^mqtts?:\/\//.test(url)) usage('give the broker as mqtt://… or mqtts://…')
if (values.authority === undefined) usage('--authority is missing: whom should it trust?')
if (!(Number(values['max-age']) > 0)) usage(`--max-age is seconds, not "${values['max-age']}"`)

// Whoever reads this may end first, as `head` does.
process.stdout.on('error', () => process.exit(0))

const say = (line) => (values.raw ? process.stderr : process.stdout).write(`${line}\n`)

let verifier
try {
  verifier = new Verifier({ ca: readPem('authority', values.authority), maxAge_s: Number(values['max-age']) })
} catch (error) {
  usage(`--authority: ${error.message}`)
}

/** By station: a publication waiting for its signature in the next message, as on MQTT 3.1.1. */
const waiting = new Map()

function judge(serial, topic, payload, signature) {
  const { ok, why, text, sequence, gap, silent_s } = verifier.publication(serial, topic, payload, signature)
  if (!ok) return say(`${serial} REFUSED ${why}: ${text}`)
  const silent = silent_s === undefined ? '' : `, ${silent_s} s`
  say(`${serial} good ${sequence} ${payload.length} bytes${gap > 0 ? ` GAP ${text}${silent}` : ''}`)
  if (values.raw) process.stdout.write(payload)
}

function signatureOf(payload) {
  try {
    return JSON.parse(payload.toString('utf8'))
  } catch {
    return undefined
  }
}

const handlers = {
  drtk(serial, topic, payload, { properties }) {
    const before = waiting.get(serial)
    if (before !== undefined) judge(serial, topic, before, undefined)
    waiting.delete(serial)
    const user = properties?.userProperties
    if (user?.sig !== undefined) judge(serial, topic, payload, user)
    else waiting.set(serial, payload)
  },
  'drtk/sig'(serial, topic, payload) {
    const before = waiting.get(serial)
    waiting.delete(serial)
    if (before !== undefined) judge(serial, topic.slice(0, -'/sig'.length), before, signatureOf(payload) ?? {})
  },
  'drtk/cert'(serial, _topic, payload) {
    const why = verifier.certificate(serial, payload.toString('utf8'))
    say(`${serial} certificate ${why === undefined ? 'trusted' : `REFUSED: ${why}`}`)
  },
}

const client = connect(url, {
  protocolVersion: 5,
  ca: readPem('ca', values.ca),
  cert: readPem('cert', values.cert),
  key: readPem('key', values.key),
  reconnectPeriod: 2_000,
})
let connected = false
client.on('connect', () => {
  connected = true
  say(`connected to ${url}`)
  // The certificate first: it is retained, and comes before the first publication.
  const topics = ['drtk/cert', 'drtk/sig', 'drtk'].map((name) => `base/${values.serial}/${name}`)
  client.subscribe(topics, { qos: 1 })
})
client.on('message', (topic, payload, packet) => {
  const [, serial, ...rest] = topic.split('/')
  handlers[rest.join('/')]?.(serial, topic, payload, packet)
})
client.on('error', (error) => {
  // Brokers that speak 3.1.1 only; signatures come as messages of their own there.
  if (error.code === 1 && client.options.protocolVersion === 5) {
    client.options.protocolVersion = 4
    return
  }
  process.stderr.write(`verifier.mjs: ${error.message || error.code}\n`)
  if (!connected) process.exit(1)
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => client.end(true, {}, () => process.exit(0)))
