/** The HTTP interface of this very station as OpenAPI 3.1: its routes, its parameters, its commands. Pure. */
import { BaseClock, BaseState, BaseUpdate, GnssInfo, LinksInfo, MqttInfo } from 'rtk-base/schemas'
import type { CommandEntry, HttpRoute, ParameterEntry } from 'rtk-base/services'

export interface StationFacts {
  readonly version: string
  readonly serial: string
  readonly routes: readonly HttpRoute[]
  readonly parameters: readonly ParameterEntry[]
  readonly commands: readonly CommandEntry[]
}

type Json = Record<string, unknown>

const errorSchema: Json = {
  type: 'object',
  required: ['error', 'message'],
  properties: {
    error: { type: 'string', description: 'The code, e.g. `RTK_ERR_UNAVAILABLE`' },
    message: { type: 'string', description: 'What happened, to what' },
    help: { type: 'string', description: 'What a person can do' },
    field: { type: 'string', description: 'Where in the request' },
  },
}

const documentSchema: Json = {
  type: 'object',
  description: 'The information document. A block is there when its plugin runs; further plugins add further blocks.',
  properties: {
    gnss: GnssInfo,
    base: { type: 'object', properties: { state: BaseState, update: BaseUpdate, clock: BaseClock } },
    mqtt: MqttInfo,
    links: LinksInfo,
  },
}

/** `/a/:id/*` → `/a/{id}/{rest}`. */
const pathOf = (url: string) => url.replaceAll(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}')

function parametersOf({ url, schema }: HttpRoute): Json[] {
  const inPath = [...pathOf(url).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const { properties = {} } = (schema.params ?? {}) as { properties?: Record<string, Json> }
    return { name, in: 'path', required: true, schema: properties[name] ?? { type: 'string' } }
  })
  const { properties = {}, required = [] } = (schema.querystring ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  const inQuery = Object.entries(properties).map(([name, of]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: of,
    ...(typeof of.description === 'string' && { description: of.description }),
  }))
  return [...inPath, ...inQuery]
}

function requestBodyOf(route: HttpRoute, facts: StationFacts): Json | undefined {
  if (route.method === 'GET' || route.method === 'DELETE' || route.body === 'ignore') return undefined
  if (route.body !== 'json') return { required: true, content: { 'application/octet-stream': {} } }
  const schema = route.url === '/change' ? changeSchema(facts) : (route.schema.body ?? {})
  return { required: true, content: { 'application/json': { schema } } }
}

const changeSchema = ({ parameters }: StationFacts): Json => ({
  type: 'object',
  description: 'Any of the parameters; one change is one transaction',
  properties: Object.fromEntries(
    parameters.map(({ name, title, schema, secret, default: preset }) => [
      name,
      { ...schema, title, ...(secret ? { writeOnly: true } : { default: preset }) },
    ]),
  ),
})

function answerOf(route: HttpRoute, { commands }: StationFacts): Json {
  const { response } = route.schema as { response?: Record<string, unknown> }
  if (response?.['200'] !== undefined)
    return { description: 'done', content: { 'application/json': { schema: response['200'] } } }
  if (/^\/(get-info|heart-beat|get-base-info)$/.test(route.url))
    return { description: 'the document', content: { 'application/json': { schema: documentSchema } } }
  if (route.url === '/system') {
    const lines = commands.map(({ name, help }) => `- \`${name}\`: ${help}`)
    return { description: `what the command says. Commands:\n${lines.join('\n')}`, content: { 'text/plain': {} } }
  }
  return { description: 'done' }
}

export function openApi(facts: StationFacts): Json {
  const paths: Record<string, Json> = {}
  for (const route of facts.routes) {
    const path = pathOf(route.url)
    const { summary = '', description } = route.schema as { summary?: string; description?: string }
    const error = route.textErrors ? { 'text/plain': {} } : { 'application/json': { schema: errorSchema } }
    const body = requestBodyOf(route, facts)
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: {
        operationId: `${route.method.toLowerCase()} ${path}`,
        tags: [route.plugin],
        summary,
        ...(description && { description }),
        parameters: parametersOf(route),
        ...(body && { requestBody: body }),
        responses: { '200': answerOf(route, facts), default: { description: 'refused', content: error } },
        security: route.role === 'none' ? [] : [{ token: [route.role] }, { session: [route.role] }],
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: `rtk-base ${facts.serial}`,
      version: facts.version,
      description:
        'The HTTP interface of this station, with the plugins that run in it. Tokens are wanted only where they are set.',
    },
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'rtk-base-session' },
      },
    },
  }
}
