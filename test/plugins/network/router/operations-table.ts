/** The table of operations as README.md of the plugin has it. */
import { type Dialect, dialects } from '../../../../plugins/network/teltonika-router/operations/dialect.js'
import type { OperationName } from '../../../../plugins/network/teltonika-router/operations/operations.js'
import { table } from '../../../../plugins/network/teltonika-router/operations/table.js'
import { type Call, isUbus, nameOf } from '../../../../plugins/network/teltonika-router/transport/call.js'

/** What operations are asked with, for their calls to be shown. */
const samples: Partial<Record<OperationName, unknown>> = {
  exec: { command: 'COMMAND', params: [] },
  uciGet: { config: 'CONFIG' },
  uciState: { config: 'CONFIG' },
  uciSet: { config: 'CONFIG', section: 'SECTION', values: {} },
  uciCommit: { config: 'CONFIG' },
  selectOperator: { plmn: 'PLMN' },
  setApn: { apn: 'APN', user: '', pswd: '', auth: 'none' },
  setPingReboot: { enabled: true, host: 'HOST' },
  setIpBlock: { attempts: 20 },
  installFirmware: { url: 'URL' },
}
const facts = {
  modemId: 'MODEM',
  simId: 'SIM',
  mobileDevice: 'DEVICE',
  simSlot: '1',
  pingSection: 'SECTION',
  ipBlockSection: 'SECTION',
}

function shown(call: Call): string {
  if (!isUbus(call)) return nameOf(call)
  const { config, section, command, params } = (call.args ?? {}) as Record<string, unknown>
  if (call.object === 'uci') return `${nameOf(call)} ${config}${section === undefined ? '' : `.${section}`}`
  if (call.object !== 'file' || command === undefined) return nameOf(call)
  if (command === '/bin/sh') return `${nameOf(call)} sh`
  return `${nameOf(call)} ${[command, ...(params as string[])].join(' ')}`
}

function cell(dialect: Dialect, name: OperationName): string {
  // biome-ignore lint/suspicious/noExplicitAny: each way takes the input of its own operation
  const ways = (table[name][dialect] ?? []) as readonly any[]
  const texts = ways.map((way) =>
    (way.calls(samples[name], facts) as Call[]).map((call) => `\`${shown(call)}\``).join(', '),
  )
  return texts.length === 0 ? '–' : texts.join(' · else ')
}

export function operationsTable(): string {
  const operations = Object.keys(table) as OperationName[]
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    row(['operation', 'legacy over ubus', '7.x over ubus', '7.x over REST']),
    '|---|---|---|---|',
    ...operations.map((name) => row([`\`${name}\``, ...dialects.map((dialect) => cell(dialect, name))])),
  ].join('\n')
}
