/** The page of limits says what the code does: each row is made of the constant or the option that it is about. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { TSchema } from 'typebox'
import { mostWaiting } from '../../plugins/mqtt-api/command-requests.js'
import { largestInbound } from '../../plugins/mqtt-link/session/inspection.js'
import { outboxLimit } from '../../plugins/mqtt-link/session/session.js'
import caster from '../../plugins/ntrip-caster/index.js'
import { receiverInputRate } from '../../plugins/rtcm-in/forwarder.js'
import rtcmTcp from '../../plugins/rtcm-tcp/index.js'
import udp from '../../plugins/udp-rtcm/index.js'
import { packageRoot } from '../../runtime/build/release.js'
import { defaultLimits } from '../../runtime/http/limits.js'
import { mostPrograms, mostWaitingPrograms } from '../../runtime/kernel/context/process.js'
import { type Rate, rates } from '../../runtime/link/index.js'
import { mostOfKind } from '../../runtime/log/log-limit.js'
import { handshakeLimits, listenerDefaults } from '../../runtime/net/listening.js'

const count = (value: number) => value.toLocaleString('en-US')

function size(bytes: number): string {
  if (bytes >= 1 << 20) return `${count(bytes / (1 << 20))} MiB`
  return bytes >= 1024 ? `${count(bytes / 1024)} KiB` : `${count(bytes)} bytes`
}

/** What a peer may send: how much, how many packets, how much at once. */
const rate = ({ bytes_s, packets_s, burst_bytes }: Rate) =>
  [`${size(bytes_s)}/s`, packets_s ? `${count(packets_s)} packets/s` : '', `${size(burst_bytes)} at once`]
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
    `${defaultLimits.connections} connections, ${defaultLimits.keptForLoopback} of them for this machine`,
    `${defaultLimits.perAddress} connections, ${rates.requestRate.packets_s} requests/s, ${rates.requestRate.burst_bytes} at once`,
    `${size(defaultLimits.maxHeaderSize)} of headers, ${size(defaultLimits.body)} of body`,
    'by the stream that is sent',
  ],
  [
    'a listener of `ctx.net`, unless its plugin sets another limit',
    `${listenerDefaults.maxConnections} connections`,
    `${listenerDefaults.maxPerAddress} connections`,
    rate(listenerDefaults.rate),
    size(listenerDefaults.maxBuffered_bytes),
  ],
  [
    'a TLS handshake, at any of them',
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
    'datagrams beyond are dropped',
    size(option(udp, 'queue_bytes')),
  ],
  [
    'the broker (`mqtt-link`)',
    '1 session',
    '',
    `${rate(rates.brokerRate)}; a packet of ${size(largestInbound)}; QoS 0 and 1`,
    size(outboxLimit),
  ],
  ['commands over MQTT (`mqtt-api`)', `8 run, ${mostWaiting} wait`, '', 'as the broker', 'changes: 8 MiB'],
  ['a peer that the station dials (casters, TCP)', '', '', rate(rates.dialledRate), 'by its plugin'],
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
