import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { routerErrors } from 'rtk-base/services'
import { fieldOf } from '../operations/parse.js'
import { limits_ms, type Transport } from './call.js'
import { type CertificatePin, certificateAt } from './certificate.js'
import { type HttpAnswer, RouterHttp } from './http.js'
import { parsedJson } from './json.js'
import { RestTransport } from './rest.js'
import { envelope, nullSession, UbusTransport } from './ubus.js'

/** `error.code` of JSON-RPC. */
const objectNotFound = -32_000
const redirectStatus = new Set([301, 302, 307, 308])
/** Asks for nothing and needs no login, so it may be sent before it is known who answers. */
const question = JSON.stringify(
  envelope(
    nullSession,
    { object: 'session', method: 'access', args: { scope: 'ubus', object: 'session', function: 'login' } },
    1,
  ),
)

export type FindEdges = Pick<PluginContext, 'fetch' | 'net' | 'timers'>

/**
 * Finds out how a router is talked to: over plain HTTP or https, by JSON-RPC or by REST. No password is sent. A certificate that
 * is seen first is pinned.
 * @param url the configured address
 * @throws RTK_ERR_ROUTER_OFFLINE, _TIMEOUT, _ANSWER, _CERTIFICATE
 */
export async function findTransport(
  edges: FindEdges,
  url: string,
  pin: CertificatePin,
  signal: AbortSignal,
): Promise<Transport> {
  const configured = new URL(url).origin
  const { pinned } = pin
  const start = pinned !== undefined && pinned.fingerprint !== '' ? pinned.origin : configured
  const http = await serverAt(edges, start, pin, signal)
  let answer: HttpAnswer
  try {
    answer = await ask(http, signal)
  } catch (error) {
    await explainCertificate(error, edges, http.origin, configured, pin, signal)
    throw error
  }
  if (!redirectStatus.has(answer.status)) return choose(http, answer, signal)
  const target = targetOf(answer.location, http.origin)
  const secure = await serverAt(edges, target, pin, signal)
  try {
    return await choose(secure, await ask(secure, signal), signal)
  } catch (error) {
    await explainCertificate(error, edges, secure.origin, configured, pin, signal)
    throw error
  }
}

const ask = (http: RouterHttp, signal: AbortSignal) =>
  http.exchange('/ubus', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: question,
    limit_ms: limits_ms.usual,
    signal,
  })

/** A server with the expected certificate; a new one is pinned. */
async function serverAt(
  edges: FindEdges,
  origin: string,
  pin: CertificatePin,
  signal: AbortSignal,
): Promise<RouterHttp> {
  if (!origin.startsWith('https:')) return new RouterHttp(edges, origin)
  const known = pin.pinned
  if (known !== undefined && known.fingerprint !== '') return new RouterHttp(edges, origin, known.fingerprint)
  const seen = { origin, fingerprint: await certificateAt(origin, edges, signal) }
  if (known === undefined) await pin.pin(seen)
  else {
    // A person accepted plain HTTP; https with an unknown certificate is another router.
    pin.saw(seen)
    throw changed(origin, 'it answers over https now')
  }
  return new RouterHttp(edges, origin, seen.fingerprint)
}

/** Notes what answers in place of the pinned certificate, so that a person can see and confirm it. */
async function explainCertificate(
  error: unknown,
  edges: FindEdges,
  origin: string,
  configured: string,
  pin: CertificatePin,
  signal: AbortSignal,
): Promise<void> {
  if (!(error instanceof RtkError) || !origin.startsWith('https:')) return
  if (error.code === 'RTK_ERR_ROUTER_CERTIFICATE') {
    pin.saw({ origin, fingerprint: await certificateAt(origin, edges, signal) })
    return
  }
  if (error.code !== 'RTK_ERR_ROUTER_OFFLINE' || configured === origin || configured.startsWith('https:')) return
  const plain = await ask(new RouterHttp(edges, configured), signal).catch(() => undefined)
  if (plain === undefined || redirectStatus.has(plain.status)) return
  pin.saw({ origin: configured, fingerprint: '' })
  throw changed(configured, 'it answers without https now, so nothing shows that it is the same router')
}

const changed = (place: string, what: string) =>
  new RtkError(routerErrors.RTK_ERR_ROUTER_CERTIFICATE, `${place}: ${what}`)

/** @throws RTK_ERR_ROUTER_ANSWER for a redirect to anywhere else than https of the same host */
function targetOf(location: string, from: string): string {
  const target = URL.canParse(location, from) ? new URL(location, from) : undefined
  if (target?.protocol === 'https:' && target.hostname === new URL(from).hostname) return target.origin
  const text = `it redirects to ${target?.origin ?? 'an invalid URL'}: only https of the same host is followed`
  throw new RtkError(routerErrors.RTK_ERR_ROUTER_ANSWER, `${from}: ${text}`)
}

/** Which interface answered. */
async function choose(http: RouterHttp, answer: HttpAnswer, signal: AbortSignal): Promise<Transport> {
  const json = parsedJson(answer.text)
  if (answer.status === 200 && fieldOf(json, 'jsonrpc') === '2.0') {
    if (fieldOf(json, 'error', 'code') !== objectNotFound) return new UbusTransport(http)
    // Every router has sessions once it has started: a login now would count as an attempt.
    throw new RtkError(
      routerErrors.RTK_ERR_ROUTER_OFFLINE,
      `${http.origin}: the router is still starting, it has no sessions yet`,
    )
  }
  // Without a login, one identifies the device and the other reports no session: both are JSON of the REST interface.
  for (const path of ['/api/unauthorized/status', '/api/session/status']) {
    const { text } = await http.exchange(path, { method: 'GET', limit_ms: limits_ms.usual, signal })
    if (typeof fieldOf(parsedJson(text), 'success') === 'boolean') return new RestTransport(http)
  }
  const text = `the device has neither JSON-RPC (/ubus: HTTP status ${answer.status}) nor REST (/api)`
  throw new RtkError(routerErrors.RTK_ERR_ROUTER_ANSWER, `${http.origin}: ${text}`)
}
