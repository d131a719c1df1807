import { Host, MountName, Password, Port, Tls, User } from 'rtk-base/ntrip'
import type { Static } from 'typebox'
import { Type } from 'typebox'

/** Where corrections come from. */
export const Source = Type.Object(
  {
    host: Type.Union([Type.Literal(''), Host], { description: 'a host name or address, without http://; empty: none' }),
    port: Type.Optional(Port),
    mount: Type.Optional(
      Type.Union([Type.Literal(''), MountName], {
        description: 'letters, digits, _ . -; empty: the nearest of the source table',
      }),
    ),
    user: Type.Optional(User),
    password: Type.Optional(Password),
    version: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)], { description: 'NTRIP 1 or 2; 2' })),
    tls: Type.Optional(Tls),
    gga: Type.Optional(Type.Boolean({ description: 'send the position; if omitted: if the source table requires it' })),
  },
  {
    additionalProperties: false,
    description:
      'e.g. { "host": "caster.example.org", "port": 2101, "mount": "NEAR", "user": "me", "password": "…" }; { "host": "" }: none',
  },
)
export type Source = Static<typeof Source>
