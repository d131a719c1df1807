import type { Static } from 'typebox'
import { Type } from 'typebox'

/** A caster that the station pushes to. */
export const Target = Type.Object(
  {
    host: Type.String({
      pattern: '^[A-Za-z0-9]([A-Za-z0-9.:-]{0,252}[A-Za-z0-9])?$',
      description: 'a host name or address, without http://',
    }),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: '2101 where it is left out' })),
    mount: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,100}$', description: 'letters, digits, _ . -' }),
    /** NTRIP 2 only. */
    user: Type.Optional(
      Type.String({ pattern: '^[!-9;-~]{0,64}$', description: 'printable characters without a colon' }),
    ),
    password: Type.Optional(
      Type.String({ pattern: '^[!-~]{0,64}$', description: 'printable characters without a space' }),
    ),
    version: Type.Optional(
      Type.Union([Type.Literal(1), Type.Literal(2)], { description: 'NTRIP 1 (SOURCE) or 2 (POST); 1' }),
    ),
    tls: Type.Optional(Type.Boolean({ description: 'the certificate of the caster is checked' })),
    messages: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 4_095 }), { maxItems: 64 })),
    interval_s: Type.Optional(Type.Number({ minimum: 0.05, maximum: 3_600 })),
    msm4: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
export type Target = Static<typeof Target>

export const nameOf = ({ host, port = 2101, mount }: Target): string => `${host}:${port}/${mount}`

/** The request, in one piece. */
export function requestOf(target: Target, version: string): string {
  const { host, mount, user = '', password = '' } = target
  const agent = `NTRIP rtk-base/${version}`
  // No slash: most casters strip it, some do not.
  if ((target.version ?? 1) === 1) return `SOURCE ${password} ${mount}\r\nSource-Agent: ${agent}\r\nSTR: \r\n\r\n`
  const login = Buffer.from(`${user}:${password}`).toString('base64')
  return (
    `POST /${mount} HTTP/1.1\r\nHost: ${host}\r\nNtrip-Version: Ntrip/2.0\r\nUser-Agent: ${agent}\r\nAuthorization: Basic ${login}\r\n` +
    'Content-Type: gnss/data\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
  )
}
