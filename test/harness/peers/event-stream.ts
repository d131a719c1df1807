import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { createGunzip } from 'node:zlib'

export interface StreamEvent {
  name: string
  data: unknown
}

/** The event stream of an open page. */
export interface EventStream {
  readonly status: number
  readonly events: StreamEvent[]
  /** Those of a name so far. */
  of(name: string): unknown[]
  /** It was ended, by whomever. */
  readonly isOver: () => boolean
  close(): void
}

/** Opens `/events` as a browser does: compressed, unless the headers say otherwise. */
export async function openEvents(
  url: string,
  {
    query = '',
    headers = {},
    localAddress,
  }: { query?: string; headers?: OutgoingHttpHeaders; localAddress?: string } = {},
): Promise<EventStream> {
  const given = { accept: 'text/event-stream', 'accept-encoding': 'gzip, deflate', ...headers }
  const asked = request(`${url}/events${query}`, {
    agent: false,
    headers: given,
    ...(localAddress && { localAddress }),
  })
  const answered = once(asked.end(), 'response')
  const [answer] = (await answered) as [IncomingMessage]
  const events: StreamEvent[] = []
  let isOver = false
  let rest = ''
  const end = () => {
    isOver = true
  }
  const plain = answer.headers['content-encoding'] === 'gzip' ? answer.pipe(createGunzip()) : answer
  for (const stream of new Set([answer, plain])) stream.on('error', end).on('close', end)
  plain.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = `${rest}${chunk}`.split('\n\n')
    rest = parts.pop() as string
    for (const part of parts) {
      const [, name = '', data = ''] = /^event: ([^\r\n]*)\ndata: ([^\r\n]*)$/.exec(part) ?? []
      events.push({ name, data: JSON.parse(data) })
    }
  })
  return {
    status: answer.statusCode ?? 0,
    events,
    of: (name) => events.filter((one) => one.name === name).map(({ data }) => data),
    isOver: () => isOver,
    close: () => asked.destroy(),
  }
}
