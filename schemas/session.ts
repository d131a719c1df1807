import { type Static, Type } from 'typebox'

/** `POST /session`: exchanges a token for a session cookie. */
export const SessionRequest = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 512, description: 'http.token or http.viewerToken of the variant' }),
  },
  { additionalProperties: false },
)
export type SessionRequest = Static<typeof SessionRequest>

/** The answer of `/session` to every method. */
export const SessionState = Type.Object({
  role: Type.Union([Type.Literal('none'), Type.Literal('viewer'), Type.Literal('operator')], {
    description: 'Permission of the caller: nothing, read, everything',
  }),
  login: Type.Boolean({ description: 'Tokens are set, so a login is possible' }),
  expires: Type.Integer({ minimum: 0, description: 'Expiry of the session cookie, UTC seconds; 0: no session' }),
})
export type SessionState = Static<typeof SessionState>
