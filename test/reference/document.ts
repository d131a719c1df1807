/** The fields of the status document, from its schemas. */
import type { TSchema } from 'typebox'
import * as schemas from '../../schemas/index.js'
import { generated, readmeOf, valuesOf } from './tables.js'

/** Block of the document → its schema, and the plugin that builds it. */
const blocks: Record<string, [schema: TSchema, plugin: string]> = {
  gnss: [schemas.GnssInfo, 'gnss'],
  'base.state': [schemas.BaseState, 'verdict'],
  'base.update': [schemas.BaseUpdate, 'ota'],
  'base.clock': [schemas.BaseClock, 'system'],
  eth: [schemas.EthInfo, 'eth'],
  wap: [schemas.WapInfo, 'wap'],
  sta: [schemas.StaInfo, 'sta'],
  mqtt: [schemas.MqttInfo, 'mqtt-link'],
  'ntrip.caster': [schemas.NtripCasterInfo, 'ntrip-caster'],
  'ntrip.server': [schemas.NtripServerInfo, 'ntrip-server'],
  'ntrip.client': [schemas.NtripClientInfo, 'ntrip-client'],
  rtcm_tcp: [schemas.RtcmTcpInfo, 'rtcm-tcp'],
  rtcm_serial: [schemas.RtcmSerialInfo, 'rtcm-serial'],
  links: [schemas.LinksInfo, 'recovery'],
  router: [schemas.RouterInfo, 'teltonika-router'],
  modem: [schemas.ModemInfo, 'modem'],
}

type Node = TSchema & {
  type?: string
  description?: string
  properties?: Record<string, TSchema>
  required?: string[]
  items?: TSchema
  anyOf?: Node[]
  const?: unknown
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

/** A row for each field that is no object, under its whole path. */
function* rowsOf(path: string, schema: Node, optional: boolean): Generator<string> {
  const { properties, required = [], description = '', type, items } = schema
  if (properties) {
    if (optional || description) yield `| \`${path}\` | object | ${cell(note(description, optional))} |`
    for (const [name, field] of Object.entries(properties))
      yield* rowsOf(`${path}.${name}`, field as Node, !required.includes(name))
    return
  }
  const inner = items as Node | undefined
  if (type === 'array' && inner?.properties) {
    yield `| \`${path}[]\` | list | ${cell(note(description, optional))} |`
    for (const [name, field] of Object.entries(inner.properties))
      yield* rowsOf(`${path}[].${name}`, field as Node, !(inner.required ?? []).includes(name))
    return
  }
  const values = meanings(schema.anyOf ?? [])
  const text = values ? `${note(description, optional)}. ${values.replace(/\.$/, '')}` : note(description, optional)
  yield `| \`${path}\` | ${cell(valuesOf(schema))} | ${cell(text)} |`
}

const note = (description: string, optional: boolean) =>
  optional ? [description, 'may be missing'].filter(Boolean).join('; ') : description

/** The descriptions of the values of a union, as sentences. */
const meanings = (values: readonly Node[]) =>
  values
    .filter(({ description }) => description)
    .map(({ const: value, description }) => `\`${JSON.stringify(value)}\`: ${description}.`)
    .join(' ')

export function documentPage(): string {
  const sections = Object.entries(blocks).map(([path, [schema, plugin]]) =>
    [
      `## ${path}`,
      '',
      `[${plugin}](${readmeOf(plugin)})`,
      '',
      '| field | values | meaning |',
      '|---|---|---|',
      ...rowsOf(path, schema as Node, false),
      '',
    ].join('\n'),
  )
  return `# Status document

${generated}

This page lists the fields of the status document, which \`GET /get-info\` returns, by block. A [mask](../interfaces.md#the-mask) selects a part of the fields. A block is
missing while its plugin is not running. An unknown value is \`""\`, 0, false or an empty list, unless the table says otherwise. A
*listen-only* receiver is one that other software configures. The block \`esp\` and the other fields of \`base\` are described at
[system](${readmeOf('system')}#status-document), \`udp\` at [udp-rtcm](${readmeOf('udp-rtcm')}).

${sections.join('\n')}`
}
