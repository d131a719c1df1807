/**
 * The credential lookup: `POST {qr_url}/rtr` over https, with a router's MAC address. The answer is JSON as below, or only the label
 * text as `text/plain`. 404: the server does not know this router.
 */
import Type, { type Static } from 'typebox'

export const RouterLookupRequest = Type.Object({
  mac: Type.String({
    pattern: '^([0-9A-F]{2}:){5}[0-9A-F]{2}$',
    description: 'MAC of the Ethernet port of the router, upper case with colons',
  }),
  station: Type.String({ description: '{SN} of the requesting station' }),
})
export type RouterLookupRequest = Static<typeof RouterLookupRequest>

export const RouterLookupAnswer = Type.Object({
  qr: Type.String({
    maxLength: 1_024,
    pattern: '^WIFI:',
    description: 'text of the label: `WIFI:` and `KEY:value;` pairs with S, P, SN, I, M, U, PW, B',
  }),
})
export type RouterLookupAnswer = Static<typeof RouterLookupAnswer>
