import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { SessionRequest, SessionState } from '../../../schemas/session.js'
import { callerOf } from '../proxies.js'
import type { RouteOwner } from '../routes/owner.js'
import { type Login, noCookie, type Session } from './login.js'

export const sessionPath = '/session'

/** The runtime's own routes: how a browser logs in and out, and learns what it may do. */
export function sessionRoutes(login: Login, log: Logger): RouteOwner {
  const answer = (reply: FastifyReply, role: SessionState['role'], session: Session | undefined) => {
    const expires = session === undefined ? 0 : Math.floor(session.expires_ms / 1_000)
    const state: SessionState = { role, login: login.isOn, expires }
    return reply.header('cache-control', 'no-store').send(state)
  }
  const response = { 200: SessionState }
  const common = { url: sessionPath, config: { public: true } } as const
  return {
    name: 'the runtime',
    key: login,
    live: () => true,
    run: (fn) => fn(),
    failed: (error, what) => log.error({ err: error }, `${what} failed`),
    plugins: [],
    upgrades: new Map(),
    routes: [
      {
        ...common,
        method: 'GET',
        schema: { summary: 'Role of the caller', response },
        handler: (request, reply) => answer(reply, request.role, login.sessionOf(request.raw.headers)),
      },
      {
        ...common,
        method: 'POST',
        schema: { summary: 'Logs in: a token for a session cookie', body: SessionRequest, response },
        handler: (request, reply) => {
          if (!login.isOn) return answer(reply, request.role, undefined)
          const { token } = request.body as SessionRequest
          const { session, cookie } = login.begin(token, peerOf(request))
          return answer(reply.header('set-cookie', cookie), session.role, session)
        },
      },
      {
        ...common,
        method: 'DELETE',
        schema: { summary: 'Logs out', response },
        handler: async (request, reply) => {
          reply.header('set-cookie', noCookie)
          await login.end(request.raw.headers)
          return answer(reply, login.isOn ? 'none' : 'operator', undefined)
        },
      },
    ],
  }
}

const peerOf = ({ raw }: FastifyRequest) => callerOf(raw)
