/** Schemas of HTTP responses besides the document, for `schema.response` of a route and `/openapi.json`. */
import Type, { type Static, type TSchema } from 'typebox'

/** The body of every refused request, except on routes that answer in text. */
export const ErrorAnswer = Type.Object({
  error: Type.String({ description: 'The code, e.g. `RTK_ERR_UNAVAILABLE`' }),
  message: Type.String({ description: 'Description of the error' }),
  help: Type.String({ description: 'Suggested remedy' }),
  field: Type.Optional(Type.String({ description: 'Location in the request' })),
})
export type ErrorAnswer = Static<typeof ErrorAnswer>

/** An answer that is not JSON, in the form of Fastify: `response: { 200: content('text/plain') }`. */
export const content = (type: string, schema: TSchema = Type.String()) => ({ content: { [type]: { schema } } })

/** A binary answer. */
export const bytes = (type: string) => content(type, Type.String({ format: 'binary' }))

/** `GET /nvs` without a namespace. */
export const NvsNamespaces = Type.Object({ namespaces: Type.Array(Type.String()) })

/** `GET /nvs?namespace=N` */
export const NvsValues = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
  description: 'Key-value pairs of the namespace; scalars only',
})

/** `POST /nvs` */
export const NvsWritten = Type.Object({
  result: Type.Literal('ok'),
  written: Type.Integer({ minimum: 0, description: 'Number of pairs stored' }),
})

/** `POST /update-firmware` */
export const UpdateAnswer = Type.Object({
  result: Type.Literal('ok'),
  version: Type.Optional(Type.String({ description: 'Version of the image (target `esp`)' })),
  message: Type.Optional(Type.String({ description: 'Progress message of the router (target `rut`)' })),
})
