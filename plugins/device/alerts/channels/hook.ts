/** Webhooks: POST of JSON or of a template, signed. */
import { createHmac } from 'node:crypto'
import { type HostReach, hostTrouble, type Refuses, urlHost } from 'rtk-base/link'
import { deliver, type PluginContext } from 'rtk-base/plugin'
import { type Static, Type } from 'typebox'
import type { Channel, Message } from './channel.js'
import { filled, templateTrouble } from './template.js'

const answer_ms = 20_000
const mostHeaders = 8
const name = /^[A-Za-z0-9-]{1,64}$/
/** Set by this plugin or by the connection. */
const ownHeader =
  /^(content-type|content-length|host|connection|transfer-encoding|expect|upgrade|keep-alive|te|trailer|x-rtk-base-.*)$/i

export const Hook = Type.Object(
  {
    name: Type.String({ pattern: '^[\\w.-]{1,32}$', description: 'Name of the webhook: letters, digits and _.-' }),
    url: Type.String({ maxLength: 1_024, description: 'https URL' }),
    body: Type.Optional(
      Type.String({
        maxLength: 4_096,
        description: 'template with {{subject}}, {{text}} and others; default: all as JSON',
      }),
    ),
    type: Type.Optional(
      Type.Union([Type.Literal('json'), Type.Literal('text')], { description: 'of the template; default json' }),
    ),
    headers: Type.Optional(
      Type.String({
        maxLength: 2_048,
        description: 'further headers, with | between them: "Title: Alert | Tags: rtk"',
      }),
    ),
    secret: Type.Optional(Type.String({ maxLength: 256, description: 'key of the signature' })),
    least: Type.Optional(
      Type.Union([Type.Literal('warning'), Type.Literal('critical')], {
        description: 'critical: no warnings; default warning',
      }),
    ),
    enabled: Type.Optional(Type.Boolean({ description: 'false: kept, but not used; default true' })),
  },
  { additionalProperties: false },
)
export type Hook = Static<typeof Hook>

/** @returns name and value of each header; a text: what is wrong */
function headersOf(text = ''): [string, string][] | string {
  if (text.trim() === '') return []
  const headers: [string, string][] = []
  for (const part of text.split('|')) {
    const at = part.indexOf(':')
    const [key, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()]
    if (at < 1 || !name.test(key)) return 'has headers that are not of the form "Name: value | Name: value"'
    if (ownHeader.test(key)) return `may not set the header ${key}`
    // Anything else is not allowed in a header, or arrives as other characters.
    if (!/^[\x20-\x7e]*$/.test(value)) return `has a header ${key} with characters other than ASCII`
    headers.push([key, value])
  }
  return headers.length > mostHeaders ? `has more than ${mostHeaders} headers` : headers
}

/**
 * The content is no secret of the whole network, and signatures and tokens do not travel in plain text.
 * @returns what is wrong with an address
 */
function urlTrouble(text: string, reach: HostReach): string | undefined {
  if (!URL.canParse(text)) return 'has an address that is not a URL'
  const { password, protocol, username } = new URL(text)
  if (username !== '' || password !== '') return 'has a login in its address: send it as a header, "Authorization: …"'
  const address = urlHost(text)
  if (protocol === 'https:') return hostTrouble(address, reach)
  if (protocol === 'http:' && reach.isLocal(address)) return hostTrouble(address, reach)
  return 'has an address that does not begin with https://. Plain http:// is for an address of the local network'
}

/** @returns what is wrong with a webhook; undefined: nothing */
export function hookTrouble(hook: Hook, reach: HostReach): string | undefined {
  const headers = headersOf(hook.headers)
  return (
    urlTrouble(hook.url, reach) ??
    (typeof headers === 'string' ? headers : undefined) ??
    (hook.body ? bodyTrouble(hook.body, hook.type) : undefined)
  )
}

function bodyTrouble(body: string, type: Hook['type'] = 'json'): string | undefined {
  const trouble = templateTrouble(body, type)
  return trouble && `has a body that ${trouble}`
}

/** `sha256=` and the HMAC of `timestamp.body`, hexadecimal. */
export const signatureOf = (secret: string, timestamp: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`

export class HookChannel implements Channel {
  readonly name: string
  readonly #ctx: PluginContext
  readonly #hook: Hook
  readonly #ca: () => string
  readonly #refuses: Refuses

  /**
   * @param ca PEM of an authority that is trusted beside the public ones; empty: none
   * @param refuses the same for all webhooks and notices: connections are kept by it
   */
  constructor(ctx: PluginContext, hook: Hook, ca: () => string, refuses: Refuses) {
    this.#refuses = refuses
    this.name = hook.name
    this.#ctx = ctx
    this.#hook = hook
    this.#ca = ca
  }

  async send(message: Message, signal: AbortSignal): Promise<void> {
    const { body: template, headers: further, secret = '', type = 'json', url } = this.#hook
    const body = template ? filled(template, type, message) : JSON.stringify(message)
    // Of this attempt: a receiver can refuse what somebody recorded and sends again.
    const timestamp = String(Math.floor(this.#ctx.clock.now() / 1_000))
    const given = headersOf(further)
    const headers: Record<string, string> = {
      'user-agent': 'rtk-base-alerts',
      ...Object.fromEntries(typeof given === 'string' ? [] : given),
      'content-type': !template || type === 'json' ? 'application/json' : 'text/plain; charset=utf-8',
      'x-rtk-base-notice': message.id,
      'x-rtk-base-timestamp': timestamp,
      ...(secret !== '' && { 'x-rtk-base-signature': signatureOf(secret, timestamp, body) }),
    }
    const ca = url.startsWith('https:') ? this.#ca() : ''
    const response = await deliver(this.#ctx.fetch, url, {
      ...{ method: 'POST', body, headers, signal, timeout_ms: answer_ms, refuses: this.#refuses },
      ...(ca && { extraCa: ca }),
      explain: refusal,
      forbidden: (trouble) => `it ${trouble}`,
      unanswered: (message) => withoutPath(message, url),
    })
    // Nobody reads the answer: it may repeat what was sent.
    await response.body?.cancel()
  }
}

/** Many services have a token in the path of the address. */
function withoutPath(text: string, url: string): string {
  const { host, origin, pathname } = new URL(url)
  return text.replaceAll(url, host).replaceAll(`${origin}${pathname}`, host)
}

function refusal({ status }: Response): string {
  const text = `it answered ${status}`
  if (status < 400) return `${text}: enter the address to which it redirects`
  return status === 401 || status === 403 ? `${text}: check its secret and headers` : text
}
