/** Fetches a URL as the router's wget does. */
import { get as httpGet, type IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import type { NetworkPort } from 'rtk-base/plugin'

const largest_bytes = 40 * 1024 * 1024
const redirects = 5

export type Downloaded = { body: Buffer } | { error: string }

export async function download(network: NetworkPort, url: string, left = redirects): Promise<Downloaded> {
  let target: URL
  try {
    target = new URL(url)
  } catch {
    return { error: `bad address '${url}'` }
  }
  if (target.protocol !== 'http:' && target.protocol !== 'https:') return { error: 'not an http or ftp url' }
  const answer = await new Promise<IncomingMessage | Error>((resolve) => {
    const isTls = target.protocol === 'https:'
    const createConnection = () =>
      network.dial({
        ...{ host: target.hostname.replace(/^\[|\]$/g, ''), port: Number(target.port || (isTls ? 443 : 80)) },
        ...(isTls && { tls: {} }),
      })
    const request = (isTls ? httpsGet : httpGet)(target, { createConnection }, resolve)
    request.on('error', resolve)
  })
  if (answer instanceof Error) return { error: answer.message }
  const { statusCode = 0, headers } = answer
  if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined && left > 0) {
    answer.destroy()
    return download(network, new URL(headers.location, target).href, left - 1)
  }
  if (statusCode !== 200) {
    answer.destroy()
    return { error: `server returned error: HTTP/1.1 ${statusCode}` }
  }
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > largest_bytes) return { error: 'No space left on device' }
      chunks.push(chunk)
    }
  } catch (error) {
    return { error: (error as Error).message }
  }
  return { body: Buffer.concat(chunks) }
}
