/** The saved logs over HTTP. */
import { badValue, type PluginContext } from 'rtk-base/plugin'
import { content } from 'rtk-base/schemas'
import type { LogFiles } from './files.js'
import { parsed, textOf } from './text.js'

export function addSavedLogs(ctx: PluginContext, files: LogFiles): void {
  ctx.http.route({
    method: 'GET',
    url: '/get-log-saved',
    schema: {
      summary: 'The saved logs. `?tail=n`: only the last n lines. `Accept: application/x-ndjson`: as JSON lines',
      parameters: [
        {
          name: 'tail',
          in: 'query',
          schema: { type: 'integer', minimum: 0, maximum: 999_999 },
          description: 'Lines',
        },
      ],
      response: {
        200: { content: { ...content('text/plain').content, ...content('application/x-ndjson').content } },
      },
    },
    // Logs may contain confidential data.
    config: { role: 'operator' },
    handler: async (request, reply) => {
      const lines = files.read().slice(-tailOf(request.query))
      if (/\bapplication\/(x-ndjson|json|jsonl)\b/.test(request.headers.accept ?? '')) {
        return reply.type('application/x-ndjson').send(lines.map((line) => `${line}\n`).join(''))
      }
      return reply.type('text/plain; charset=utf-8').send(lines.map((line) => `${textOf(parsed(line))}\n`).join(''))
    },
  })
}

/** Lines from the end; `?tail=n`. @throws bad value */
function tailOf(query: unknown): number {
  const { tail } = query as { tail?: unknown }
  if (tail === undefined) return Number.POSITIVE_INFINITY
  if (typeof tail !== 'string' || !/^\d{1,6}$/.test(tail)) throw badValue('tail=<number of lines>')
  // `slice(-0)` would be everything.
  return Math.max(1, Number(tail))
}
