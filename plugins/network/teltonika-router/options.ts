import { type Static, Type } from 'typebox'

const Credentials = Type.Object(
  {
    user: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the login' }),
    pswd: Type.String({ minLength: 1, maxLength: 128, description: 'Its password' }),
  },
  { additionalProperties: false },
)

/** The documented factory password of the legacy generation; newer routers have one each, on the label. */
export const makersDefaults = [
  { user: 'admin', pswd: 'admin01' },
  { user: 'root', pswd: 'admin01' },
]

/** Deploy-time options of the plugin. */
export const RouterOptions = Type.Object(
  {
    url: Type.String({
      default: 'http://192.168.1.1',
      pattern: '^(simulator|https?://[^/?#@]+/?)$',
      description:
        'http://HOST[:PORT] or https://HOST[:PORT] of the router, or simulator: that of the plugin simulated-router; a redirect to https is followed',
    }),
    qrUrl: Type.Optional(
      Type.String({
        pattern: '^https://',
        description:
          'An https URL, the credential lookup: POST {qrUrl}/rtr with the MAC address of the router; none when left out',
      }),
    ),
    qrCa: Type.Optional(
      Type.String({ description: 'PEM file of the authority of the lookup server, beside the public ones' }),
    ),
    defaults: Type.Optional(
      Type.Array(Credentials, {
        maxItems: 5,
        description:
          'Credentials that are tried last, in order: usually three of admin and two of root. When left out, the factory password of the legacy generation',
      }),
    ),
  },
  { additionalProperties: false },
)
export type RouterOptions = Static<typeof RouterOptions>
