/** What is read of the station: its document, metrics and report, its plugins, parameters and actions, and descriptions of its interfaces. */
import { forViewer, type PluginContext } from 'rtk-base/plugin'
import {
  ActionEntry,
  asyncApi,
  bytes,
  content,
  InfoDocument,
  InfoDocumentPart,
  ParameterEntry,
  PluginReport,
} from 'rtk-base/schemas'
import { device, httpRoutes, metrics as metricsToken, mqttLink, mqttTopics, type Station } from 'rtk-base/services'
import { Type } from 'typebox'
import { maskParameter } from './bare-queries.js'
import { openApi } from './openapi.js'
import { ownSchemas } from './own-schemas.js'
import { maskOf, rawQuery } from './query.js'

const json = 'application/json; charset=utf-8'
const description = Type.Record(Type.String(), Type.Unknown())

/** How the station is: the document, the metrics, an archive for support. */
export function addReadings(ctx: PluginContext, station: () => Station): void {
  const bytesOf = keptBytes()
  for (const url of ['/get-info', '/heart-beat', '/get-base-info']) {
    ctx.http.route({
      method: 'GET',
      url,
      schema: {
        summary: 'The status document, or the part selected by a mask such as `?0x02`',
        parameters: [maskParameter],
        response: { 200: Type.Union([InfoDocument, InfoDocumentPart]) },
      },
      handler: (request, reply) => {
        const reader = request.role === 'operator' ? 'operator' : 'viewer'
        return reply.type(json).send(bytesOf(station().documentText(maskOf(rawQuery(request.raw.url)), reader)))
      },
    })
  }

  ctx.http.route({
    method: 'GET',
    url: '/metrics',
    schema: { summary: 'The metrics of every plugin, for Prometheus', response: { 200: content('text/plain') } },
    handler: async (_request, reply) => {
      const metrics = ctx.services.use(metricsToken)
      return reply.type(metrics.contentType).send(await metrics.text())
    },
  })

  ctx.http.route({
    method: 'GET',
    url: '/report',
    schema: {
      summary: 'An archive for support: the state, logs and the flight record, without secrets',
      response: { 200: bytes('application/gzip') },
    },
    config: { role: 'operator' },
    handler: async (_request, reply) =>
      reply
        .type('application/gzip')
        .header('content-disposition', `attachment; filename="rtk-base-report-${ctx.serial}.tar.gz"`)
        .send(Buffer.from(await station().report())),
  })
}

/** Plugins, parameters and actions of the station. */
export function addDirectory(ctx: PluginContext, station: () => Station): void {
  for (const [url, summary, entry, list] of [
    ['/plugins', 'Every plugin with its state', PluginReport, pluginsFor],
    ['/parameters', 'Every parameter with its schema and value', ParameterEntry, parametersFor],
    ['/actions', 'Every action that the caller may run', ActionEntry, actionsFor],
  ] as const) {
    const schema = { summary, response: { 200: Type.Array(entry) } }
    ctx.http.route({ method: 'GET', url, schema, handler: async ({ role }) => list(station(), role === 'operator') })
  }
  /** Facts about the station for both descriptions. */
  const facts = () => ({
    version: ctx.services.use(device).version,
    serial: ctx.serial,
    own: ownSchemas(station().parameters(), station().actions()),
  })
  // A description takes tens of milliseconds of the processor.
  const [http, mqtt] = [keptBytes(), keptBytes()]
  ctx.http.route({
    method: 'GET',
    url: '/openapi.json',
    schema: { summary: 'This interface, as OpenAPI 3.1', response: { 200: description } },
    handler: async (_request, reply) => {
      const known = { ...facts(), routes: ctx.services.use(httpRoutes).list() }
      return reply.type(json).send(http(JSON.stringify(known), () => JSON.stringify(openApi(known))))
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/asyncapi.json',
    schema: { summary: 'The MQTT interface of this station, as AsyncAPI 3', response: { 200: description } },
    handler: async (_request, reply) => {
      const broker = ctx.services.find(mqttLink)?.broker
      const known = { ...facts(), topics: ctx.services.use(mqttTopics).list(), ...(broker && { broker }) }
      return reply.type(json).send(mqtt(JSON.stringify(known), () => JSON.stringify(asyncApi(known))))
    },
  })
}

export const actionsFor = (station: Station, isOperator: boolean) =>
  station.actions().filter(({ reads }) => isOperator || reads)

/** A plugin says there what it likes, as in its log, which is not for viewers. */
const pluginsFor = (station: Station, isOperator: boolean) =>
  station.plugins().map((plugin) => (isOperator ? plugin : { ...plugin, reason: '' }))

function parametersFor(station: Station, isOperator: boolean): ParameterEntry[] {
  const shown = (name: string, value: unknown) => forViewer({ [name]: value })[name]
  return station.parameters().map((entry) => {
    const { name, value, default: preset } = entry
    return isOperator || entry.secret ? entry : { ...entry, value: shown(name, value), default: shown(name, preset) }
  })
}

/** Bytes of an answer, kept until another key comes: to make them for each request costs a sixth of a document, and all of a description. */
function keptBytes(): (key: string, make?: () => string) => Buffer {
  let kept = ''
  let bytes = Buffer.alloc(0)
  return (key, make = () => key) => {
    if (key !== kept) {
      bytes = Buffer.from(make())
      kept = key
    }
    return bytes
  }
}
