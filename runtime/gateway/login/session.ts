import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { PasswordRequest, SessionRequest, SessionState } from '../../../schemas/session.js'
import { callerOf } from '../http/proxies.js'
import type { RouteSet } from '../http/routes/config.js'
import { noCookie } from './cookie.js'
import type { Login, Session } from './login.js'

export const sessionPath = '/session'
export const passwordPath = '/password'

/** The runtime's own routes: how a browser logs in and out, learns its role, and sets passwords. */
export function sessionRoutes(login: Login, log: Logger): RouteSet {
  const answer = (reply: FastifyReply, role: SessionState['role'], session: Session | undefined) => {
    const expires = session === undefined ? 0 : Math.floor(session.expires_ms / 1_000)
    const user = session?.user
    const state: SessionState = {
      ...{ role, login: login.isOn, expires, passwords: login.passwords },
      ...(user && { user }),
      ...(login.isStarting && role === 'none' && { starting: true }),
    }
    return reply.header('cache-control', 'no-store').send(state)
  }
  const response = { 200: SessionState }
  const common = { url: sessionPath, config: { public: true } } as const
  return {
    name: 'the runtime',
    owner: undefined,
    plugins: [],
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
        schema: { summary: 'Logs in: a password or token for a session cookie', body: SessionRequest, response },
        handler: async (request, reply) => {
          if (!login.isOn) return answer(reply, request.role, undefined)
          const { token } = request.body as SessionRequest
          const { session, cookie } = await login.begin(token, peerOf(request))
          return answer(reply.header('set-cookie', cookie), session.role, session)
        },
      },
      {
        ...common,
        method: 'DELETE',
        schema: { summary: 'Logs out', response },
        handler: async (request, reply) => {
          reply.header('set-cookie', noCookie(login.isSecure))
          await login.end(request.raw.headers)
          return answer(reply, login.isOn ? 'none' : 'operator', undefined)
        },
      },
      {
        url: passwordPath,
        method: 'POST',
        schema: {
          summary: 'Sets, changes or removes a password and ends all other sessions',
          description: 'The caller gets a new session cookie. The first password needs no `old`.',
          body: PasswordRequest,
          response,
        },
        handler: async (request, reply) => {
          const change = request.body as PasswordRequest
          const made = await login.setPassword(change, peerOf(request))
          const what = change.password === null ? 'removed' : 'set'
          log.info({ peer: peerOf(request) }, `the password of the ${change.role} was ${what}: other sessions ended`)
          reply.header('set-cookie', made?.cookie ?? noCookie(login.isSecure))
          return answer(reply, 'operator', made?.session)
        },
      },
    ],
  }
}

const peerOf = ({ raw }: FastifyRequest) => callerOf(raw)
