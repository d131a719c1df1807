/**
 * The page of limits says what the code does: each row is made of the constant or the option that it is about, and whoever listens
 * has a row.
 */
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import type { TSchema } from 'typebox'
import { mostWaiting } from '../../plugins/mqtt/mqtt-api/command-requests.js'
import { addressLimit, clientLimit, clientRate, payloadLimit } from '../../plugins/mqtt/mqtt-broker/broker.js'
import { largestInbound } from '../../plugins/mqtt/mqtt-link/session/inspection.js'
import { outboxLimit } from '../../plugins/mqtt/mqtt-link/session/session.js'
import { most_bytes, mostPackets } from '../../plugins/network/mdns/responder.js'
import caster from '../../plugins/rtcm/ntrip-caster/index.js'
import { receiverInputRate } from '../../plugins/rtcm/rtcm-in/forwarder.js'
import rtcmTcp from '../../plugins/rtcm/rtcm-tcp/index.js'
import udp from '../../plugins/rtcm/udp-rtcm/index.js'
import { defaultLimits } from '../../runtime/gateway/http/limits.js'
import { handshakeLimits } from '../../runtime/gateway/net/door.js'
import { Listeners } from '../../runtime/gateway/net/index.js'
import { listenerDefaults } from '../../runtime/gateway/net/listening.js'
import { mostPrograms, mostWaitingPrograms } from '../../runtime/kernel/context/process.js'
import { type Rate, rates } from '../../runtime/lib/link/index.js'
import { mostOfKind } from '../../runtime/platform/log/log-limit.js'
import { filesBelow, packageRoot } from '../../runtime/platform/release.js'
import type { AnyPlugin } from '../../runtime/plugin.js'
import { longestAnswer, longestRequest } from '../../runtime/tools/control/protocol.js'
import { mostClients } from '../../runtime/tools/control/server.js'
import { createTestStation, fakeReceiver, freeTcpPort, ManualClock } from '../harness/index.js'
import { shippedPlugin } from '../harness/shipped.js'

const count = (value: number) => value.toLocaleString('en-US')

function size(bytes: number): string {
  if (bytes >= 1 << 20) return `${count(bytes / (1 << 20))} MiB`
  return bytes >= 1024 ? `${count(bytes / 1024)} KiB` : `${count(bytes)} bytes`
}

/** What a peer may send: how much, how many packets, how much in a burst. */
const rate = ({ bytes_s, packets_s, burst_bytes }: Rate) =>
  [`${size(bytes_s)}/s`, packets_s ? `${count(packets_s)} packets/s` : '', `${size(burst_bytes)} in a burst`]
    .filter(Boolean)
    .join(', ')

/** The default of a plugin's option. */
function option({ options }: { options?: unknown }, name: string): number {
  const { properties } = options as { properties: Record<string, TSchema & { default?: number }> }
  const value = properties[name]?.default
  if (value === undefined) throw new Error(`the option ${name} has no default`)
  return value
}

type Row = [listener: string, inAll: string, perAddress: string, sends: string, queue: string]
const rows: Row[] = [
  [
    'HTTP',
    `${defaultLimits.connections} connections, ${defaultLimits.keptForLoopback} of them reserved for this machine`,
    `${defaultLimits.perAddress} connections, ${rates.requestRate.packets_s} requests/s, ${rates.requestRate.burst_bytes} in a burst`,
    `${size(defaultLimits.maxHeaderSize)} of headers, ${size(defaultLimits.body)} of body`,
    'set by the stream',
  ],
  [
    'a listener of `ctx.net`, unless its plugin sets another limit',
    `${listenerDefaults.maxConnections} connections`,
    `${listenerDefaults.maxPerAddress} connections`,
    rate(listenerDefaults.rate),
    size(listenerDefaults.maxBuffered_bytes),
  ],
  [
    'TLS handshakes, at all listeners together',
    `${handshakeLimits.maxConnections} handshakes`,
    `${handshakeLimits.maxPerAddress} handshakes`,
    '10 s',
    'none',
  ],
  [
    '`ntrip-caster` (rovers, bases)',
    `${option(caster, 'maxClients')} connections`,
    `${option(caster, 'maxPerAddress')} connections`,
    rate(rates.clientRate),
    '128 KiB',
  ],
  [
    '`rtcm-tcp`',
    `${option(rtcmTcp, 'maxClients')} connections`,
    `${listenerDefaults.maxPerAddress} connections`,
    rate(rates.clientRate),
    size(listenerDefaults.maxBuffered_bytes),
  ],
  [
    '`udp-rtcm`',
    `${option(udp, 'maxSubscribers')} subscribers`,
    `${option(udp, 'maxPerAddress')} subscribers; ${rate(rates.datagramRate)}`,
    'excess datagrams are dropped',
    size(option(udp, 'queue_bytes')),
  ],
  [
    '`mdns`',
    '',
    '',
    `${mostPackets} packets/s on an interface, ${count(most_bytes)} bytes each; excess packets are dropped`,
    'none',
  ],
  ['the time server (`system`), for this machine', '', '', '48 bytes, each answered immediately', 'none'],
  [
    '`mqtt-broker`, for this machine',
    `${clientLimit} connections`,
    `${addressLimit} connections`,
    `messages of ${size(payloadLimit)}; ${rate(clientRate)}`,
    '100 messages',
  ],
  [
    '`control.sock`, for the user of the service',
    `${mostClients} connections`,
    '',
    `${size(longestRequest)} a request`,
    `${size(longestAnswer)} an answer`,
  ],
  [
    'the broker (`mqtt-link`)',
    '1 session',
    '',
    `${rate(rates.brokerRate)}; a packet of ${size(largestInbound)}; QoS 0 and 1`,
    size(outboxLimit),
  ],
  ['commands over MQTT (`mqtt-api`)', `8 run, ${mostWaiting} wait`, '', 'as the broker', '8 MiB of queued changes'],
  ['a peer that the station dials (casters, TCP)', '', '', rate(rates.dialledRate), 'set by the plugin'],
  ['the receiver’s port', '1', '', rate(rates.receiverRate), '64 KiB over TCP, 32 KiB over a serial line'],
  ['corrections to the receiver (`rtcm-in`)', '1 source', '', rate(receiverInputRate), 'the newest epochs'],
  [
    'programs of a plugin (`ctx.process`)',
    `${mostPrograms} run, ${mostWaitingPrograms} wait`,
    '',
    '',
    '1 MiB of output',
  ],
  ['log lines of a plugin', '', '', `${mostOfKind} of a kind a minute`, ''],
]

t.test('runtime/docs/limits.md has every limit as it is', (t) => {
  const page = readFileSync(join(packageRoot(), 'runtime', 'docs', 'limits.md'), 'utf8')
  const table = rows.map((row) => `| ${row.join(' | ')} |`.replaceAll(/ {2,}/g, ' '))
  for (const row of table) t.ok(page.includes(`${row}\n`), row)
  t.equal(page.split('\n').filter((line) => line.startsWith('| ')).length, table.length + 1, 'no other row')
  t.end()
})

const ofNet = 'a listener of `ctx.net`, unless its plugin sets another limit'
/** Where sockets are opened for others: a row for each call that does it. */
const listeners: Readonly<Record<string, readonly (string | { none: string })[]>> = {
  'runtime/gateway/http/server.ts': ['HTTP'],
  'runtime/gateway/net/door.ts': [ofNet, 'TLS handshakes, at all listeners together'],
  'runtime/kernel/context/network.ts': [{ none: 'for a plugin, which has the row' }, { none: 'the same' }],
  'runtime/platform/ports/system-network.ts': [{ none: 'for the callers here' }, { none: 'the same' }],
  'runtime/tools/control/server.ts': ['`control.sock`, for the user of the service'],
  'runtime/platform/files/folder-lock.ts': [{ none: 'a lock: whoever connects is closed' }],
  'plugins/network/mdns/link.ts': ['`mdns`'],
  'plugins/mqtt/mqtt-broker/broker.ts': ['`mqtt-broker`, for this machine'],
  'plugins/rtcm/ntrip-caster/caster.ts': ['`ntrip-caster` (rovers, bases)', '`ntrip-caster` (rovers, bases)'],
  'plugins/rtcm/rtcm-tcp/clients.ts': ['`rtcm-tcp`'],
  'runtime/lib/simulation/device-plugin.ts': [{ none: 'a simulator on a desk' }],
  'plugins/simulated/simulated-router/http/listeners.ts': [
    { none: 'a simulator on a desk' },
    { none: 'its parser of HTTP' },
    { none: 'and of HTTPS' },
  ],
  'plugins/device/system/time-server.ts': ['the time server (`system`), for this machine'],
  'plugins/rtcm/udp-rtcm/socket.ts': ['`udp-rtcm`'],
}

t.test('whoever listens has a row', (t) => {
  const root = packageRoot()
  const calls = /\b(create\w*Server|createSocket)\(|\.net\.listen\(|net(work)?\.(bind|datagram)\(/g
  const found: Record<string, number> = {}
  for (const folder of ['plugins', 'runtime']) {
    for (const file of filesBelow(join(root, folder))) {
      const times = /\.tsx?$/.test(file) ? [...readFileSync(file, 'utf8').matchAll(calls)].length : 0
      if (times > 0) found[relative(root, file)] = times
    }
  }
  const known = Object.entries(listeners).map(([file, all]) => [file, all.length])
  t.strictSame(found, Object.fromEntries(known), 'calls that open a socket for others, by file')
  const named = Object.values(listeners)
    .flat()
    .filter((row) => typeof row === 'string')
  for (const name of named)
    t.ok(
      rows.some(([listener]) => listener === name),
      name,
    )
  t.end()
})

t.test('a running listener has the limits of its row', async (t) => {
  const asked: { plugin: string; limits: (number | undefined)[] }[] = []
  const { listen } = Listeners.prototype
  t.intercept(Listeners.prototype, 'listen', {
    value(this: Listeners, ...args: Parameters<typeof listen>) {
      const [{ name }, options] = args
      const { maxConnections, maxPerAddress } = { ...listenerDefaults, ...options }
      asked.push({ plugin: name, limits: [maxConnections, maxPerAddress] })
      return listen.apply(this, args)
    },
  })
  const clock = new ManualClock()
  const plugins: Record<string, AnyPlugin | [AnyPlugin, Record<string, unknown>]> = {
    'fake-receiver': fakeReceiver(() => clock.monotonic()).definition,
    rtcm: await shippedPlugin('rtcm'),
  }
  const changes: Record<string, number> = {}
  const wanted = ['ntrip-caster', 'rtcm-tcp']
  for (const name of wanted) {
    plugins[name] = [await shippedPlugin(name), { host: '127.0.0.1' }]
    changes[`${name}-port`] = await freeTcpPort()
  }
  const station = await createTestStation({ clock, plugins, variant: { changes } })
  t.teardown(() => station.stop())
  t.strictSame(new Set(asked.map(({ plugin }) => plugin)), new Set(wanted), 'all of them listen')
  for (const { plugin, limits } of asked) {
    const row = rows.find(([listener]) => listener.startsWith(`\`${plugin}\``)) ?? rows.find(([name]) => name === ofNet)
    t.strictSame(
      limits,
      row?.slice(1, 3).map((text) => Number.parseInt(text, 10)),
      plugin,
    )
  }
})
