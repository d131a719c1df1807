/** Schemas shared by NTRIP options and parameters. */
import Type from 'typebox'
import type { ChangeAnswer } from '../../../schemas/station.js'
import { passwordPattern, unseenRefused, userPattern } from './login-characters.js'

export { Host } from '../../platform/address/host.js'

const text = (pattern: string, description: string) => Type.String({ pattern, description })

export const Port = Type.Integer({ minimum: 1, maximum: 65_535, description: '2101 where it is left out' })
export const MountName = text('^[A-Za-z0-9_.-]{1,100}$', 'letters, digits, _ . -')
/** Sent as UTF-8 (RFC 7617). */
export const User = text(userPattern, `printable characters of any script without a colon; ${unseenRefused}`)
export const Password = text(passwordPattern, `printable characters of any script without a space; ${unseenRefused}`)
export const Tls = Type.Boolean({ description: 'TLS; the certificate of the other end is checked' })

/** Schema fields that select the outgoing stream. Spread them into the object of a mountpoint or target. */
export const selectionFields = {
  messages: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 4_095 }), {
      maxItems: 64,
      description: 'Messages to send besides the position (1005 or 1006); default: all',
    }),
  ),
  interval_s: Type.Optional(
    Type.Number({
      minimum: 0.05,
      maximum: 3_600,
      description: 'Observation interval in seconds; default: each epoch',
    }),
  ),
  msm4: Type.Optional(
    Type.Boolean({ description: 'MSM5–7 are sent as MSM4, which saves about a third of the bytes of MSM7' }),
  ),
  legacy: Type.Optional(
    Type.Union(
      [
        Type.Boolean({
          description: 'For old rovers: 1004 and 1012 instead of MSM, and no messages newer than RTCM 3.1',
        }),
        Type.Literal('beside', { description: '1004 and 1012 before the MSM of each epoch, for old and new rovers' }),
      ],
      { description: 'Observations for old rovers, 1004 and 1012: true: instead of MSM, beside: before them' },
    ),
  ),
}
/** The field `legacy` as true or false only, without `beside`. */
export const legacyField = Type.Optional(
  Type.Boolean({
    title: 'For old rovers',
    description: 'For old rovers: 1004 and 1012 instead of MSM, and no messages newer than RTCM 3.1',
  }),
)

/** Where a login is sent. */
interface LoginPeer {
  readonly host: string
  readonly port?: number | undefined
  readonly tls?: boolean | undefined
}

/** Whether the login that was entered for one caster may go to the other: the same host and port, and never in plain text after TLS. */
export const mayKeepLogin = (from: LoginPeer, to: LoginPeer): boolean =>
  from.host.toLowerCase() === to.host.toLowerCase() &&
  (from.port ?? 2101) === (to.port ?? 2101) &&
  (from.tls !== true || to.tls === true)

/**
 * The answer to a change whose values were completed with stored passwords. A refused change is answered with its values: here
 * as they were sent.
 */
export const asSent = (answer: ChangeAnswer, sent: Record<string, unknown>): ChangeAnswer =>
  answer.result === 'failed' ? { ...answer, leftover: sent } : answer
