/** Tries a caster once, before or after it is saved: name, connection, TLS, login, source table. Sends no RTCM. */
import { type DialFailure, dial, isIP } from 'rtk-base/link'
import { AnswerHead, AnswerPause, type PushRefusalCode } from 'rtk-base/ntrip'
import type { PluginContext } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { probe } from './probe.js'
import { tableState } from './proof.js'
import { type Reply, readReply } from './reply.js'
import { requestOf, type Target } from './target.js'

const whole_ms = 15_000
const resolve_ms = 4_000
const reply_ms = 6_000

const codes = {
  ok: 'save it',
  'not-listed': 'check the name of the mountpoint, or register it with the caster',
  sandbox: 'register the mountpoint with the operator of the caster',
  dns: 'check the name of the host, and the internet connection of the station',
  refused: 'check the port; the caster may also have banned this address',
  timeout: 'check host and port, and the internet connection of the station',
  network: 'check the internet connection of the station',
  certificate: 'check the name of the host, and the clock of the station',
  'not-tls': 'switch TLS off, or use the port of the caster for TLS',
  flood: 'check host and port: this does not look like a caster',
  'no-answer': 'check the port, and the NTRIP version (1 or 2)',
  web: 'check host and port, or log in to the network that the station uses',
  password: 'check the password of the mountpoint',
  login: 'check user and password',
  forbidden: 'ask the operator of the caster to let this user push',
  mount: 'check the name of the mountpoint, or register it with the caster',
  taken: 'another base uses this mountpoint: choose another name, or stop that base',
  banned: 'stop trying, and ask the operator of the caster to lift the ban',
  other: 'check host, port and NTRIP version',
} as const satisfies Record<DialFailure | PushRefusalCode | 'ok' | 'not-listed' | 'sandbox' | 'no-answer', string>
type Code = keyof typeof codes

const Check = Type.Union([Type.Literal('ok'), Type.Literal('failed'), Type.Literal('unknown')], {
  description: 'unknown: not reached, or the answer is inconclusive',
})

export const CasterTested = Type.Object({
  ok: Type.Boolean({ description: 'The caster accepts the push. `code` may still warn: not-listed, sandbox' }),
  code: Type.Unsafe<Code>(
    Type.Union(
      Object.keys(codes).map((code) => Type.Literal(code)),
      { description: 'The first thing that is wrong' },
    ),
  ),
  text: Type.String({ description: 'The result, as text' }),
  advice: Type.String({ description: 'What to do' }),
  checks: Type.Object({ resolved: Check, connected: Check, tls: Check, login: Check, mount: Check }),
})
export type CasterTested = Static<typeof CasterTested>
type Checks = CasterTested['checks']

interface Attempt {
  reply: Reply | undefined
  /** Without a reply. */
  code: DialFailure | 'no-answer'
  text: string
  connected: boolean
}

/**
 * @param isPushing the station pushes to this mountpoint now: a second login would be refused, or push the first one out
 */
export async function testCaster(ctx: PluginContext, target: Target, isPushing: boolean): Promise<CasterTested> {
  const started_ms = ctx.clock.monotonic()
  const left_ms = () => Math.max(1_000, whole_ms - (ctx.clock.monotonic() - started_ms))
  const { host, tls = false } = target
  const checks: Checks = { resolved: 'ok', connected: 'unknown', tls: 'unknown', login: 'unknown', mount: 'unknown' }
  if (!(await resolves(ctx, host))) {
    return result('dns', `the name ${host} is not known`, { ...checks, resolved: 'failed' })
  }
  const attempt: Attempt = isPushing
    ? { reply: { accepted: true }, code: 'no-answer', text: '', connected: true }
    : await logIn(ctx, target, Math.min(left_ms(), reply_ms + 4_000))
  const { reply } = attempt
  const isTls = attempt.code === 'certificate' || attempt.code === 'not-tls'
  checks.connected = attempt.connected || isTls ? 'ok' : 'failed'
  if (tls) checks.tls = attempt.connected ? 'ok' : isTls ? 'failed' : 'unknown'
  if (!attempt.connected) return result(attempt.code, attempt.text, checks)
  if (reply?.accepted) checks.login = 'ok'
  else if (reply) noteRefusal(checks, reply.code)
  // A banned address only makes it worse, and what answers may not be a caster.
  const asks = reply !== undefined && (reply.accepted || !['banned', 'web'].includes(reply.code))
  const listed = asks ? await lookAtTable(ctx, target, left_ms()) : undefined
  if (listed) checks.mount = listed.state === 'listed' ? 'ok' : 'failed'
  if (reply === undefined) return result(attempt.code, attempt.text, checks)
  if (!reply.accepted) {
    // NTRIP 1 says the same of a mountpoint in use and of an unknown one: one in use is in the table.
    const isUnknown = reply.code === 'taken' && listed?.state === 'not-listed'
    return result(isUnknown ? 'mount' : reply.code, reply.text, checks)
  }
  const accepts = isPushing ? 'the station pushes to this caster now' : 'the caster accepts the login'
  if (listed === undefined) return result('ok', `${accepts}; its source table could not be read`, checks)
  return result(listed.state === 'listed' ? 'ok' : listed.state, `${accepts}; ${listed.text}`, checks)
}

function result(code: Code, text: string, checks: Checks): CasterTested {
  return { ok: checks.login === 'ok', code, text, advice: codes[code], checks }
}

function noteRefusal(checks: Checks, code: PushRefusalCode): void {
  if (code === 'password' || code === 'login' || code === 'forbidden') checks.login = 'failed'
  if (code === 'mount' || code === 'taken') checks.mount = 'failed'
}

async function resolves({ net, timers }: PluginContext, host: string): Promise<boolean> {
  if (isIP(host) !== 0) return true
  return new Promise((resolve) => {
    const late = timers.after(resolve_ms, () => resolve(false))
    net
      .resolve(host)
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => void late())
  })
}

/** Logs in as the push does, and hangs up at the answer. Never rejects. */
function logIn({ net, services, signal, timers }: PluginContext, target: Target, limit_ms: number): Promise<Attempt> {
  const { host, port = 2101, tls } = target
  const reader = new AnswerHead()
  return new Promise((resolve) => {
    let connected = false
    const end = (attempt: Omit<Attempt, 'connected'>) => {
      void late()
      pause.end()
      line.hangUp()
      signal.removeEventListener('abort', stopped)
      resolve({ ...attempt, connected })
    }
    const answered = (reply: Reply) => end({ reply, code: 'no-answer', text: '' })
    /** A refusal may be in what came so far. */
    const over = (text: string) => {
      const head = reader.end()
      const reply = head && readReply(head.lines)
      if (reply && !reply.accepted) answered(reply)
      else end({ reply: undefined, code: connected ? 'no-answer' : 'timeout', text })
    }
    const stopped = () => end({ reply: undefined, code: 'network', text: 'the plugin is stopping' })
    const pause = new AnswerPause(timers, () => {
      const head = reader.silent()
      if (head) answered(readReply(head.lines))
    })
    const late = timers.after(limit_ms, () => over(`the caster did not answer in ${Math.round(limit_ms / 1_000)} s`))
    const line = dial(
      { net, timers },
      { host, port, tls },
      {
        connected: (socket) => {
          connected = true
          socket.write(requestOf(target, services.use(device).version))
        },
        data: (bytes) => {
          const head = reader.push(bytes)
          if (head === undefined) return pause.heard()
          if (head === 'too-large')
            end({ reply: undefined, code: 'no-answer', text: 'the answer is not from an NTRIP caster' })
          else answered(readReply(head.lines, head.rest.toString('latin1')))
        },
        failed: (text, _answered, code) => end({ reply: undefined, code, text }),
        closed: () => over('the caster closed the connection without an answer'),
      },
    )
    signal.addEventListener('abort', stopped)
  })
}

async function lookAtTable(ctx: PluginContext, target: Target, limit_ms: number) {
  const agent = `rtk-base/${ctx.services.use(device).version}`
  const answer = await probe(ctx, { target, mount: '', agent, limit_ms })
  return answer.kind === 'table' ? tableState(answer.rows, target.mount) : undefined
}
