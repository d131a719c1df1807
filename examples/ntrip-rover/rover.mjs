#!/usr/bin/env node
// Follows a base by NTRIP and feeds a receiver on a serial port. Uses the same libraries as the station.
import { parseArgs } from 'node:util'
import { Framer } from 'rtk-base/gnss'
import { dial, KeptPort, portFrom, systemNetwork } from 'rtk-base/link'
import { AnswerReader, getRequest } from 'rtk-base/ntrip'
import { Backoff } from 'rtk-base/time'

const help = `rover.mjs URL PORT [--baud N] [--gga] [--frames N]

  URL         ntrip://[USER:PASSWORD@]HOST[:PORT]/MOUNT, or ntrips:// for TLS
  PORT        the receiver: a device path, best below /dev/serial/by-id, or tcp://host:port
  --baud N    rate of the port (default: 115200)
  --gga       sends the receiver's position (its GGA) to the caster every 10 s
  --frames N  ends after N messages

Only whole messages with a right checksum reach the receiver. Connections that end are made again. Ctrl-C ends it.
Exit codes: 0 ended, 2 usage error.
`

const answer_ms = 10_000
/** An open connection without a message for so long has died. */
const silent_ms = 30_000
const gga_ms = 10_000

function usage(message) {
  process.stderr.write(`rover.mjs: ${message}\nSee rover.mjs --help\n`)
  process.exit(2)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        baud: { type: 'string', default: '115200' },
        gga: { type: 'boolean', default: false },
        frames: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    return usage(error.message)
  }
}

function readUrl(text) {
  const url = URL.canParse(text) ? new URL(text) : usage(`URL: ntrip://host:port/mount, not "${text}"`)
  const { protocol, hostname, port, pathname, username, password } = url
  if (!/^ntrips?:$/.test(protocol) || !hostname || pathname.length < 2)
    usage(`URL: ntrip://host:port/mount, not "${text}"`)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 2101),
    tls: protocol === 'ntrips:',
    mount: pathname.slice(1),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
  }
}

// Whoever reads this may end first, as `head` does.
process.stdout.on('error', () => process.exit(0))
const say = (text) => process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${text}\n`)

const { values, positionals } = readArguments()
if (values.help) {
  process.stdout.write(help)
  process.exit(0)
}
if (positionals.length !== 2) usage('give the URL of the mount point and the port of the receiver')
const source = readUrl(positionals[0])
const baud = Number(values.baud)
if (!(baud >= 300)) usage(`--baud takes a rate, not "${values.baud}"`)
const wanted = values.frames === undefined ? Number.POSITIVE_INFINITY : Number(values.frames)
if (!(wanted > 0)) usage(`--frames takes a number above 0, not "${values.frames}"`)

const timers = {
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  every: (ms, run) => {
    const timer = setInterval(run, ms)
    return () => clearInterval(timer)
  },
}
const clock = { now: Date.now, monotonic: () => performance.now() }
const edges = { clock, timers, net: systemNetwork }

/** The newest GGA of the receiver. */
let gga
let frames = 0

const fromReceiver = new Framer({
  onFrame: ({ kind, bytes }) => {
    if (kind === 'nmea' && /^\$..GGA,/.test(Buffer.from(bytes).toString('latin1'))) gga = Buffer.from(bytes)
  },
})
const receiver = new KeptPort(port(positionals[1]), edges, {
  baud: () => baud,
  opened: () => {
    receiver.works()
    say(`${positionals[1]} is open`)
  },
  data: (bytes) => fromReceiver.push(bytes, clock.monotonic()),
  closed: (reason) => say(`${positionals[1]}: ${reason}; it is opened again`),
  ended: () => {},
})

function port(text) {
  try {
    return portFrom(text, { pace: 0, loop: false, delay: 0 }, edges)
  } catch (error) {
    return usage(error.message)
  }
}

function end() {
  say(`${frames} messages`)
  process.exit(0)
}

const backoff = new Backoff({ first_ms: 5_000, longest_ms: 300_000 })

function follow() {
  const answer = new AnswerReader()
  let good_ms = clock.monotonic()
  let said_ms = Number.NEGATIVE_INFINITY
  const fromBase = new Framer({
    onFrame: ({ kind, bytes }) => {
      if (kind !== 'rtcm') return
      good_ms = clock.monotonic()
      backoff.reset()
      if (!receiver.write(bytes)) return
      frames += 1
      if (frames >= wanted) end()
    },
  })
  const look = timers.every(1_000, () => {
    const now_ms = clock.monotonic()
    if (now_ms - good_ms > (answer.answer ? silent_ms : answer_ms)) again('nothing comes')
    else if (values.gga && gga && answer.answer && now_ms - said_ms >= gga_ms) {
      said_ms = now_ms
      line.socket.write(gga)
    }
  })
  const again = (text) => {
    look()
    line.hangUp()
    const wait_ms = backoff.next()
    say(`${text}; next attempt in ${Math.round(wait_ms / 1_000)} s`)
    timers.after(wait_ms, follow)
  }
  const line = dial(edges, source, {
    connected: (socket) => {
      good_ms = clock.monotonic()
      socket.write(getRequest({ ...source, version: 2, agent: 'ntrip-rover/1.0' }))
    },
    data: (bytes) => {
      try {
        const isFirst = answer.answer === undefined
        const parts = answer.push(bytes)
        if (answer.answer?.kind === 'refused') return again(answer.answer.text)
        if (answer.answer?.kind === 'table') return again(`the caster has no mount point ${source.mount}`)
        if (isFirst && answer.answer) say(`${source.host}:${source.port}/${source.mount} sends`)
        for (const part of parts) fromBase.push(part, clock.monotonic())
      } catch (error) {
        again(error.message)
      }
    },
    failed: again,
    closed: () => again('the caster closed the connection'),
  })
}

process.on('SIGINT', end)
receiver.start()
follow()
