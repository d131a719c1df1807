import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { UpdateAnswer } from 'rtk-base/schemas'
import { firmwareInstaller, routerFirmware, updateErrors } from 'rtk-base/services'
import { rawQuery } from './query.js'

const longestUrl = 4_096

/** A bare value: an object with one property, serialised as `esp=`. */
const targetParameter = {
  name: 'target',
  in: 'query',
  required: true,
  style: 'form',
  explode: true,
  description:
    'Target of the update. The name `target` is not sent: the query is only `esp…` or `rut`, with or without `=`',
  schema: {
    type: 'object',
    minProperties: 1,
    maxProperties: 1,
    propertyNames: { pattern: '^(rut|esp[A-Za-z0-9_-]*)$' },
    additionalProperties: { type: 'string', const: '' },
  },
  examples: {
    esp: { summary: '?esp the service or one plugin', value: { esp: '' } },
    rut: { summary: '?rut the router', value: { rut: '' } },
  },
} as const

/** A router downloads and checks an image of tens of megabytes over a mobile link. */
const limit_ms = 15 * 60_000

/** `POST /update-firmware?<target>`: the target's plugin installs the image in the body, or at the URL in it. */
export function addFirmwareRoutes(ctx: PluginContext): void {
  for (const url of ['/update-firmware', '/firmware']) {
    ctx.http.route({
      method: 'POST',
      url,
      schema: {
        summary:
          'Installs firmware: `?esp…` for rtk-base (the body is a signed image), `?rut` for the router (the body is a URL)',
        parameters: [targetParameter],
        requestBody: {
          required: true,
          content: {
            'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
            'text/plain': { schema: { type: 'string', format: 'uri', maxLength: longestUrl } },
          },
        },
        response: { 200: UpdateAnswer },
      },
      config: { rawBody: 'stream', timeout_ms: limit_ms },
      handler: (request, reply) => install(ctx, request, reply),
    })
  }
}

async function install(ctx: PluginContext, request: FastifyRequest, reply: FastifyReply): Promise<object> {
  const target = rawQuery(request.raw.url).replace(/=$/, '')
  if (target === 'rut') {
    const url = await urlIn(request.body as IncomingMessage)
    const router = ctx.services.find(routerFirmware)
    if (!router) throw notHere('rut', 'teltonika-router')
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    return { result: 'ok', message: await router.install(url, gone.signal) }
  }
  if (/^esp[\w-]*$/.test(target)) {
    const installer = ctx.services.find(firmwareInstaller)
    if (!installer) throw notHere(target, 'ota')
    try {
      const { version } = await installer.install((request.body as IncomingMessage | undefined) ?? Readable.from([]))
      return { result: 'ok', version }
    } catch (error) {
      // The rest of the image is not read: the client must not send another request behind it.
      if (!request.raw.complete) reply.header('connection', 'close')
      throw error
    }
  }
  const text = `send POST /update-firmware?rut or ?esp, not ${target === '' ? 'no target' : `"${target.slice(0, 40)}"`}`
  throw new RtkError(updateErrors.RTK_ERR_UPDATE_TARGET, text)
}

const notHere = (target: string, plugin: string) =>
  new RtkError(
    updateErrors.RTK_ERR_UPDATE_UNKNOWN,
    `${target} belongs to plugin ${plugin}, which this station does not run`,
  )

/** The URL in the body, taken verbatim. @throws RTK_ERR_FETCH_URL, RTK_ERR_BODY_TOO_LARGE */
async function urlIn(body: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of body ?? []) {
    text += String(piece)
    if (text.length > longestUrl)
      throw new RtkError('RTK_ERR_BODY_TOO_LARGE', `a URL has at most ${longestUrl} characters`)
  }
  const url = text.trim()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
  if (URL.canParse(url) && /^https?:\/\//i.test(url) && !/[\s\u0000-\u001f]/.test(url)) return url
  throw new RtkError('RTK_ERR_FETCH_URL', 'the body has to be the http or https URL of a firmware image')
}
