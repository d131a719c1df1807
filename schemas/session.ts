import { type Static, Type } from 'typebox'

/** `POST /session`: exchanges a token for a session cookie. */
export const SessionRequest = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 512, description: 'http.token or http.viewerToken of the variant' }),
  },
  { additionalProperties: false },
)
export type SessionRequest = Static<typeof SessionRequest>

/** What `/session` answers to every method. */
export const SessionState = Type.Object({
  role: Type.Union([Type.Literal('none'), Type.Literal('viewer'), Type.Literal('operator')], {
    description: 'What the caller may do: nothing, read, everything',
  }),
  login: Type.Boolean({ description: 'Tokens are set, so there is something to log in to' }),
  expires: Type.Integer({ minimum: 0, description: 'When the session cookie ends, UTC in seconds; 0: no session' }),
})
export type SessionState = Static<typeof SessionState>
