/** What is asked of the station: changes, commands, actions, and the key-value pairs of integrators. */
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import {
  ActionAnswer,
  Change,
  ChangeAnswer,
  content,
  InputErrors,
  NvsNamespaces,
  NvsValues,
  NvsWritten,
} from 'rtk-base/schemas'
import type { Station } from 'rtk-base/services'
import { Type } from 'typebox'
import { commandParameter } from './bare-queries.js'
import { commandText, namespaceOf, rawQuery, secretText } from './query.js'
import { actionsFor } from './readings.js'

const text = 'text/plain; charset=utf-8'
const namespaceParameter = { name: 'namespace', in: 'query', required: false, schema: { type: 'string' } }

/** Changes, commands, actions. */
export function addActions(ctx: PluginContext, station: () => Station): void {
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
export function addStorage(ctx: PluginContext, station: () => Station): void {
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
