import { selectionFields } from 'rtk-base/ntrip'
import { Type } from 'typebox'

const Mount = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z0-9_.-]{1,32}$',
      description: 'letters, digits, _ . -; the name used by rovers',
    }),
    ...selectionFields,
    plainV2: Type.Optional(
      Type.Boolean({ description: 'NTRIP 2 without chunks, for clients that cannot decode them' }),
    ),
  },
  { additionalProperties: false },
)

export const CasterOptions = Type.Object(
  {
    host: Type.String({ default: '0.0.0.0', description: 'Address to listen on' }),
    world: Type.Boolean({
      default: false,
      description: 'Outside the local network, rovers may connect with a login, and bases may push with their password',
    }),
    mounts: Type.Array(Mount, {
      default: [],
      maxItems: 16,
      description: 'Mountpoints over the one stream; none: {SN}',
    }),
    tls: Type.Optional(
      Type.Object(
        {
          port: Type.Integer({ default: 2102, minimum: 0, maximum: 65_535, description: '0: any free port' }),
          cert: Type.String({ description: 'PEM file: the certificate and its chain' }),
          key: Type.String({ description: 'PEM file: its private key' }),
        },
        { additionalProperties: false, description: 'A second port with TLS' },
      ),
    ),
    place: Type.String({ default: '', maxLength: 64, description: 'Town or name of the place, for the source table' }),
    country: Type.String({
      default: '',
      pattern: '^([A-Z]{3})?$',
      description: 'three letters of ISO 3166, for the source table',
    }),
    maxClients: Type.Integer({ default: 500, minimum: 1, maximum: 10_000, description: 'Connections in all' }),
    maxPerAddress: Type.Integer({
      default: 16,
      minimum: 1,
      maximum: 10_000,
      description: 'Connections from one address',
    }),
  },
  { additionalProperties: false },
)
