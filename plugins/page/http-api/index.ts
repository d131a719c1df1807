import { definePlugin, forViewer, type PluginContext, RtkError } from 'rtk-base/plugin'
import {
  ActionAnswer,
  ActionEntry,
  asyncApi,
  bytes,
  Change,
  ChangeAnswer,
  content,
  InfoDocument,
  InfoDocumentPart,
  InputErrors,
  NvsNamespaces,
  NvsValues,
  NvsWritten,
  ParameterEntry,
  PluginReport,
} from 'rtk-base/schemas'
import {
  device,
  httpRoutes,
  metrics as metricsToken,
  mqttLink,
  mqttTopics,
  type Station,
  station as stationToken,
  updateErrors,
} from 'rtk-base/services'
import { Type } from 'typebox'
import { commandParameter, maskParameter } from './bare-queries.js'
import { addFirmwareRoutes } from './firmware.js'
import { openApi } from './openapi.js'
import { ownSchemas } from './own-schemas.js'
import { commandText, maskOf, namespaceOf, rawQuery, secretText } from './query.js'

const json = 'application/json; charset=utf-8'
const text = 'text/plain; charset=utf-8'
const namespaceParameter = { name: 'namespace', in: 'query', required: false, schema: { type: 'string' } }
const description = Type.Record(Type.String(), Type.Unknown())

/** The HTTP surface of the specification. Every route is a thin face of the station's own operations. */
export default definePlugin({
  name: 'http-api',
  version: '1.0.0',
  api: '^1.0.0',
  errors: updateErrors,
  needs: [stationToken, metricsToken, device, httpRoutes, mqttTopics],

  setup(ctx) {
    const station = () => ctx.services.use(stationToken)
    ctx.banner('document', () => 'curl {http}/get-info')
    addReadings(ctx, station)
    addActions(ctx, station)
    addStorage(ctx, station)
    addFirmwareRoutes(ctx)
    addDirectory(ctx, station)
  },
})

/** How the station is: the document, the metrics, an archive for support. */
function addReadings(ctx: PluginContext, station: () => Station): void {
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

/** Changes, commands, actions. */
function addActions(ctx: PluginContext, station: () => Station): void {
  ctx.http.route({
    method: 'POST',
    url: '/change',
    schema: {
      summary: 'Changes parameters, as one transaction: all are stored, or none',
      requestBody: { required: true, content: { 'application/json': { schema: Change } } },
      response: { 200: ChangeAnswer },
    },
    // Every owner may take 10 s, one after the other.
    config: { timeout_ms: 300_000 },
    handler: async (request, reply) => {
      const answered = new Promise<void>((resolve) => reply.raw.once('close', resolve))
      const address = request.raw.socket.localAddress ?? ''
      return station().change(request.body, { source: 'http', answered, address })
    },
  })

  ctx.http.route({
    method: 'POST',
    url: '/system',
    schema: {
      summary: 'Runs the command in the query: `?reboot`, `?log=d`',
      parameters: [commandParameter],
      requestBody: {
        description: 'The value of a command with a secret one, at most 4096 bytes; ignored by every other command',
        required: false,
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
      response: { 200: content('text/plain') },
    },
    config: { rawBody: 'buffer', errors: 'text' },
    handler: async ({ raw, body }, reply) => {
      const secret = () => secretText(body)
      const result = await station().command(commandText(rawQuery(raw.url)), { source: 'http', secret })
      return reply.code(result.status).type(text).send(`${result.text.trimEnd()}\n`)
    },
  })

  ctx.http.route({
    method: 'POST',
    url: '/actions/:name',
    schema: {
      summary: 'Runs an action with a JSON object as its input (GET /actions lists them)',
      params: Type.Object({ name: Type.String() }),
      requestBody: { required: false, content: { 'application/json': { schema: { type: 'object' } } } },
      response: { 200: ActionAnswer, 400: InputErrors },
    },
    // Some only read; the others are refused here.
    config: { role: 'viewer' },
    handler: async ({ params, body = {}, role }, reply) => {
      const { name } = params as { name: string }
      if (role !== 'operator' && !actionsFor(station(), false).some((action) => action.name === name))
        throw new RtkError('RTK_ERR_FORBIDDEN_ROLE', 'a viewer may only read, this needs an operator')
      try {
        return await station().act(name, body, { source: 'http' })
      } catch (error) {
        if (!(error instanceof RtkError) || error.statusCode !== 400) throw error
        const errors = (error.all ?? [error]).map(({ place, message }) => ({ name: place?.join('.') ?? '', message }))
        return reply.code(400).send({ errors })
      }
    },
  })
}

/** Key-value pairs of integrators. */
function addStorage(ctx: PluginContext, station: () => Station): void {
  ctx.http.route({
    method: 'GET',
    url: '/nvs',
    schema: {
      summary: 'Key-value pairs of a namespace; without a namespace: the list of namespaces',
      parameters: [namespaceParameter],
      response: { 200: Type.Union([NvsNamespaces, NvsValues]) },
    },
    // Anybody may have written anything there, also secrets.
    config: { role: 'operator' },
    handler: async (request) => {
      const namespace = namespaceOf(request.query)
      if (namespace === undefined) return { namespaces: await station().nvs.namespaces() }
      return station().nvs.read(namespace)
    },
  })

  ctx.http.route({
    method: 'POST',
    url: '/nvs',
    schema: {
      summary: 'Writes key-value pairs to a namespace',
      parameters: [{ ...namespaceParameter, description: 'Left out: `user`' }],
      requestBody: { required: true, content: { 'application/json': { schema: NvsValues } } },
      response: { 200: NvsWritten },
    },
    handler: async (request) => {
      const written = await station().nvs.write(namespaceOf(request.query) ?? 'user', request.body)
      return { result: 'ok', written }
    },
  })
}

/** Plugins, parameters and actions of the station. */
function addDirectory(ctx: PluginContext, station: () => Station): void {
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

const actionsFor = (station: Station, isOperator: boolean) =>
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
