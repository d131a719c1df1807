/** The HTTP interface of this very station as OpenAPI 3.1: its routes, its parameters, its commands. Pure. */
import { ErrorAnswer, withReferences } from 'rtk-base/schemas'
import type { HttpRoute } from 'rtk-base/services'

export interface ApiFacts {
  readonly version: string
  readonly serial: string
  readonly routes: readonly HttpRoute[]
  /** Station-specific versions of named schemas, e.g. `Change` with its parameters. */
  readonly own: Readonly<Record<string, object>>
}

type Json = Record<string, unknown>
interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>
  readonly required?: readonly string[]
}

/** `/a/:id/*` → `/a/{id}/{rest}`. */
const pathOf = (url: string) => url.replaceAll(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}')

/** `GET /get-info` → `getInfo`, `POST /own/{id}` → `postOwnId`. */
function operationName(method: string, path: string): string {
  const [first = 'root', ...rest] = path.split(/[^A-Za-z0-9]+/).filter(Boolean)
  const verb = method.toLowerCase()
  const words = first === verb ? rest : [first, ...rest]
  return verb + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** The name itself, or with a number behind it where another one has it. */
function unique(name: string, taken: Set<string>): string {
  let found = name
  for (let n = 2; taken.has(found); n++) found = `${name}${n}`
  taken.add(found)
  return found
}

const parameter = (name: string, place: 'path' | 'query', schema: Json, required: boolean): Json => ({
  name,
  in: place,
  required,
  schema,
  ...(typeof schema.description === 'string' && { description: schema.description }),
})

function parametersOf({ url, schema }: HttpRoute): unknown[] {
  const {
    params,
    querystring,
    parameters = [],
  } = schema as {
    params?: ObjectSchema
    querystring?: ObjectSchema
    parameters?: readonly object[]
  }
  const inPath = [...pathOf(url).matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
    parameter(name, 'path', params?.properties?.[name] ?? { type: 'string' }, true),
  )
  const { properties = {}, required = [] } = querystring ?? {}
  const inQuery = Object.entries(properties).map(([name, of]) => parameter(name, 'query', of, required.includes(name)))
  return [...inPath, ...inQuery, ...parameters]
}

function requestBodyOf({ method, body, schema }: HttpRoute): object | undefined {
  if (schema.requestBody !== undefined) return schema.requestBody as object
  if (method === 'GET' || method === 'DELETE') return undefined
  const type = body === 'json' ? 'application/json' : 'application/octet-stream'
  return { required: true, content: { [type]: body === 'json' ? { schema: schema.body ?? {} } : {} } }
}

function responsesOf({ schema, textErrors }: HttpRoute): Json {
  const { response = { 200: undefined } } = schema as { response?: Readonly<Record<string, unknown>> }
  const answers = Object.entries(response).map(([status, answer]) => [status, responseOf(answer)])
  const refused = { $ref: `#/components/responses/${textErrors ? 'RefusedText' : 'Refused'}` }
  return { ...Object.fromEntries(answers), '4XX': refused, '5XX': refused }
}

/** JSON, or a schema with its own content types. */
function responseOf(answer: unknown): Json {
  const { description = 'Done', content } = (answer ?? {}) as { description?: string; content?: object }
  if (answer === undefined) return { description }
  return { description, content: content ?? { 'application/json': { schema: answer } } }
}

const refusals: Readonly<Record<string, Json>> = {
  Refused: { description: 'Refused', content: { 'application/json': { schema: ErrorAnswer } } },
  RefusedText: { description: 'Refused: one line of text', content: { 'text/plain': { schema: { type: 'string' } } } },
}

export function openApi({ version, serial, routes, own }: ApiFacts): Json {
  const names = new Set<string>()
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = pathOf(route.url)
    const method = route.method.toLowerCase()
    const { summary, description } = route.schema as { summary?: string; description?: string }
    const body = requestBodyOf(route)
    const parameters = parametersOf(route)
    paths[path] = {
      ...paths[path],
      [method]: {
        operationId: unique(operationName(method, path), names),
        tags: [route.plugin],
        summary: summary ?? `${route.method} ${path}`,
        ...(description !== undefined && { description }),
        ...(parameters.length > 0 && { parameters }),
        ...(body && { requestBody: body }),
        responses: responsesOf(route),
        security: route.role === 'none' ? [] : [{ token: [route.role] }, { session: [route.role] }],
      },
    }
  }
  const answersText = routes.some(({ textErrors }) => textErrors)
  const responses = { Refused: refusals.Refused, ...(answersText && { RefusedText: refusals.RefusedText }) }
  const { part, definitions } = withReferences({ paths, responses }, '#/components/schemas/', own)
  return {
    openapi: '3.1.0',
    info: {
      title: `rtk-base ${serial}`,
      version,
      description:
        'The HTTP interface of this station, with the plugins that run in it. A login is needed only if one is set.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This station' }],
    tags: [...new Set(routes.map(({ plugin }) => plugin))]
      .sort()
      .map((name) => ({ name, description: `Routes of ${name.includes(' ') ? name : `the plugin ${name}`}` })),
    paths: part.paths,
    components: {
      schemas: definitions,
      responses: part.responses,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'rtk-base-session' },
      },
    },
  }
}
