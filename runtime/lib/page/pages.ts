import type { FastifyReply, FastifyRequest } from 'fastify'
import { bytes, content } from '../../../schemas/index.js'
import type { ClientBundle, ClientFile, PluginContext } from '../../plugin.js'

/**
 * No inline code, no external sources. Never HSTS or `upgrade-insecure-requests`: the access point has no https, and they would
 * blank the page.
 */
const policyOf = (pictures: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: ${pictures}`.trim(),
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

/** Files that the entry imports, directly or not. The browser finds these names itself, but only a round trip later. */
function importedBy(client: ClientBundle, name: string, found = new Set<string>()): ReadonlySet<string> {
  const code = Buffer.from(client.files.find((file) => file.name === name)?.bytes ?? []).toString()
  for (const [, next = ''] of code.matchAll(/(?:\bfrom|\bimport) ?"\.\/([\w.-]+)"/g)) {
    if (found.has(next)) continue
    found.add(next)
    importedBy(client, next, found)
  }
  return found
}

export interface PageParts {
  readonly client: ClientBundle
  /** The summary of the route, for its documentation. */
  readonly summary: string
  /** Where the page lies, such as `/lamp`; '': it is the first page of the service. */
  readonly at?: string
  /** Where the same is to be had without a script, and what it is. */
  readonly path: string
  readonly text: string
  /** The foreign origin that pictures may come from; '' for none. */
  pictures(): string
}

const htmlOf = ({ at = '', client, path, text }: PageParts) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>rtk-base</title>
<link rel="icon" href="data:,">
${client.styles.map((name) => `<link rel="stylesheet" href="${at}/ui/${name}">`).join('\n')}
<script type="module" src="${at}/ui/${client.entry}"></script>
${[...importedBy(client, client.entry)].map((name) => `<link rel="modulepreload" href="${at}/ui/${name}">`).join('\n')}
</head>
<body>
<div id="app"><h1>rtk-base</h1><p>This page needs JavaScript. ${text}: <a href="${path}">${path}</a>.</p></div>
</body>
</html>
`

/** The page and its files, from memory. */
export class Pages {
  readonly #ctx: PluginContext
  readonly #parts: PageParts
  readonly #files: ReadonlyMap<string, ClientFile>
  readonly #html: string

  constructor(ctx: PluginContext, parts: PageParts) {
    this.#ctx = ctx
    this.#parts = parts
    this.#files = new Map(parts.client.files.map((file) => [file.name, file]))
    this.#html = htmlOf(parts)
  }

  register(): void {
    const { http } = this.#ctx
    const { at = '', summary } = this.#parts
    http.route({
      method: 'GET',
      url: at || '/',
      schema: { summary, response: { 200: content('text/html') } },
      config: { public: true },
      handler: (_request, reply) => this.#page(reply),
    })
    http.route({
      method: 'GET',
      url: `${at}/ui/:name`,
      schema: { summary: 'A file of the page', response: { 200: bytes('*/*') } },
      config: { public: true },
      handler: (request, reply) => sendFile(request, reply, this.#files.get((request.params as { name: string }).name)),
    })
  }

  #page(reply: FastifyReply): FastifyReply {
    return secured(reply)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('content-security-policy', policyOf(this.#parts.pictures()))
      .header('permissions-policy', 'camera=(), microphone=(), geolocation=()')
      .send(this.#html)
  }
}

/** Answers with a file of a browser bundle, from memory; 404 without one. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: ClientFile | undefined) {
  if (!file) return reply.code(404).send()
  secured(reply).type(file.type).header('vary', 'accept-encoding')
  reply.header('cache-control', file.immutable ? 'max-age=31536000, immutable' : 'no-cache')
  if (!file.gzip || !/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file.bytes)
  return reply.header('content-encoding', 'gzip').send(file.gzip)
}

export const secured = (reply: FastifyReply) =>
  reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer')
