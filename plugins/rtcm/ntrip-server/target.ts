import {
  basicAuthorization,
  Host,
  hostHeader,
  loginForm,
  MountName,
  mayKeepLogin,
  Password,
  Port,
  selectionFields,
  Tls,
  User,
} from 'rtk-base/ntrip'
import type { Static } from 'typebox'
import { Type } from 'typebox'

/** A caster that the station pushes to. */
export const Target = Type.Object(
  {
    host: Host,
    port: Type.Optional(Port),
    mount: MountName,
    /** NTRIP 2 only. */
    user: Type.Optional(User),
    password: Type.Optional(Password),
    version: Type.Optional(
      Type.Union([Type.Literal(1), Type.Literal(2)], { description: 'NTRIP 1 (SOURCE) or 2 (POST); 1' }),
    ),
    tls: Type.Optional(Tls),
    enabled: Type.Optional(Type.Boolean({ description: 'false: kept, but not pushed to; default true' })),
    ...selectionFields,
    proof: Type.Optional(
      Type.Union([Type.Literal('off'), Type.Literal('table'), Type.Literal('echo')], {
        description: 'table: looks up its row in the source table; echo: also reads its own mountpoint; default table',
      }),
    ),
    echo: Type.Optional(
      Type.Object(
        { user: User, password: Password },
        { additionalProperties: false, description: 'a rover’s login for the echo; default: user and password' },
      ),
    ),
  },
  { additionalProperties: false },
)
export type Target = Static<typeof Target>

const { password, echo, ...open } = Target.properties
const set = Type.Boolean({ description: 'A password is stored' })

/** A caster as it is shown: passwords are only said to be set. */
export const ShownTarget = Type.Object({
  ...open,
  set,
  echo: Type.Optional(Type.Object({ user: Type.String(), set })),
})
export type ShownTarget = Static<typeof ShownTarget>

export function shown({ password, echo, ...open }: Target): ShownTarget {
  return {
    ...open,
    set: password !== undefined,
    ...(echo && { echo: { user: echo.user, set: echo.password !== '' } }),
  }
}

/** A caster as it is sent: a missing password keeps the stored one. */
export const SentTarget = Type.Object(
  {
    ...Target.properties,
    echo: Type.Optional(
      Type.Object({ user: User, password: Type.Optional(Password) }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
)
export type SentTarget = Static<typeof SentTarget>

/**
 * Fills in missing passwords from the stored caster of this host, port and mountpoint, or from the only one of this host and
 * port. Another host never gets a stored password, and none travels in plain text that was entered for TLS.
 */
export function completed(sent: SentTarget, stored: readonly Target[]): Target {
  const { echo, ...rest } = sent
  const neighbours = stored.filter((one) => mayKeepLogin(one, sent))
  const kept =
    neighbours.find(({ mount }) => mount === sent.mount) ?? (neighbours.length === 1 ? neighbours[0] : undefined)
  const password = sent.password ?? kept?.password
  const echoPassword = echo?.password ?? (kept?.echo?.user === echo?.user ? kept?.echo?.password : undefined)
  return {
    ...rest,
    ...(password !== undefined && { password }),
    ...(echo && { echo: { user: echo.user, password: echoPassword ?? '' } }),
  }
}

export const isEnabled = ({ enabled = true }: Target): boolean => enabled

export const nameOf = ({ host, port = 2101, mount }: Pick<Target, 'host' | 'port' | 'mount'>): string =>
  `${host}:${port}/${mount}`

/** The request, in one piece. */
export function requestOf(target: Target, version: string): string {
  const { host, port = 2101, mount, user = '', password = '' } = target
  const agent = `NTRIP rtk-base/${version}`
  // No slash: most casters strip it, some do not.
  if ((target.version ?? 1) === 1)
    return `SOURCE ${loginForm(password)} ${mount}\r\nSource-Agent: ${agent}\r\nSTR: \r\n\r\n`
  return (
    `POST /${mount} HTTP/1.1\r\nHost: ${hostHeader(host, port)}\r\nNtrip-Version: Ntrip/2.0\r\nUser-Agent: ${agent}\r\nAuthorization: ${basicAuthorization(user, password)}\r\n` +
    'Content-Type: gnss/data\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
  )
}
