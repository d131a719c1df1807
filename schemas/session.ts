import { type Static, Type } from 'typebox'

/** `POST /session`: exchanges a token or a password for a session cookie. */
export const SessionRequest = Type.Object(
  {
    token: Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'A password, http.token or http.viewerToken of the variant, or the access key of a person',
    }),
  },
  { additionalProperties: false },
)
export type SessionRequest = Static<typeof SessionRequest>

/** The answer of `/session` to every method. */
export const SessionState = Type.Object({
  role: Type.Union([Type.Literal('none'), Type.Literal('viewer'), Type.Literal('operator')], {
    description: 'Permission of the caller: nothing, read, everything',
  }),
  login: Type.Boolean({ description: 'A token or a password is set, so a login is possible' }),
  expires: Type.Integer({ minimum: 0, description: 'Expiry of the session cookie, UTC seconds; 0: no session' }),
  user: Type.Optional(Type.String({ description: 'Name of the person whose access key it was' })),
  starting: Type.Optional(
    Type.Boolean({ description: 'The service has just started, and does not know yet who may log in' }),
  ),
  passwords: Type.Object(
    { operator: Type.Boolean(), viewer: Type.Boolean() },
    { description: 'Roles that have a password (`POST /password`); tokens of the variant are not counted' },
  ),
})
export type SessionState = Static<typeof SessionState>

/** `POST /password`: sets, changes or removes a password. */
export const PasswordRequest = Type.Object(
  {
    role: Type.Union([Type.Literal('operator'), Type.Literal('viewer')], { description: 'Whose password it is' }),
    password: Type.Union([Type.String({ minLength: 8, maxLength: 128 }), Type.Null()], {
      description:
        'The new password; null removes it. Without the password of the operator and without http.token the one of the viewer is removed too',
    }),
    old: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description:
          'The present password of the operator, or http.token. Not needed while `login` of /session is false',
      }),
    ),
  },
  { additionalProperties: false },
)
export type PasswordRequest = Static<typeof PasswordRequest>
