import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ClientFile, PluginContext } from 'rtk-base/plugin'
import { bytes, content } from 'rtk-base/schemas'
import client from './ui/main.tsx?client'

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

/** What the entry imports, directly or not. The browser finds these names itself, but only a round trip later. */
function importedBy(name: string, found = new Set<string>()): ReadonlySet<string> {
  const code = Buffer.from(client.files.find((file) => file.name === name)?.bytes ?? []).toString()
  for (const [, next = ''] of code.matchAll(/(?:\bfrom|\bimport) ?"\.\/([\w.-]+)"/g)) {
    if (found.has(next)) continue
    found.add(next)
    importedBy(next, found)
  }
  return found
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>rtk-base</title>
<link rel="icon" href="data:,">
${client.styles.map((name) => `<link rel="stylesheet" href="/ui/${name}">`).join('\n')}
<script type="module" src="/ui/${client.entry}"></script>
${[...importedBy(client.entry)].map((name) => `<link rel="modulepreload" href="/ui/${name}">`).join('\n')}
</head>
<body>
<div id="app"><h1>rtk-base</h1><p>This page needs JavaScript. The figures as text: <a href="/get-info">/get-info</a>.</p></div>
</body>
</html>
`

/** The page and its files, from memory. */
export class Pages {
  readonly #ctx: PluginContext
  readonly #files = new Map(client.files.map((file) => [file.name, file]))
  readonly #pictures: () => string

  /** @param pictures the foreign origin that pictures may come from; '' for none */
  constructor(ctx: PluginContext, pictures: () => string) {
    this.#ctx = ctx
    this.#pictures = pictures
  }

  register(): void {
    const { http } = this.#ctx
    http.route({
      method: 'GET',
      url: '/',
      schema: { summary: 'The page of the station', response: { 200: content('text/html') } },
      config: { public: true },
      handler: (_request, reply) => this.#page(reply),
    })
    http.route({
      method: 'GET',
      url: '/ui/:name',
      schema: { summary: 'A file of the page', response: { 200: bytes('*/*') } },
      config: { public: true },
      handler: (request, reply) => sendFile(request, reply, this.#files.get((request.params as { name: string }).name)),
    })
  }

  #page(reply: FastifyReply) {
    return secured(reply)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('content-security-policy', policyOf(this.#pictures()))
      .header('permissions-policy', 'camera=(), microphone=(), geolocation=()')
      .send(page)
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
