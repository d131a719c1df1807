import { type Static, Type } from 'typebox'
import { serialPattern } from './station.js'

/** The kernel's own HTTP section of a variant. */
export const HttpSection = Type.Object(
  {
    host: Type.String({ default: '0.0.0.0', description: 'Address to listen on' }),
    port: Type.Integer({ default: 80, minimum: 0, maximum: 65_535, description: '0: any free port' }),
    hosts: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
      default: [],
      description: 'Further accepted host names of the station (Host header)',
    }),
    tls: Type.Optional(
      Type.Object(
        {
          cert: Type.String({
            minLength: 1,
            maxLength: 1_024,
            description: 'Path of the certificate with its chain (PEM)',
          }),
          key: Type.String({ minLength: 1, maxLength: 1_024, description: 'Path of its private key (PEM)' }),
        },
        { additionalProperties: false, description: 'With it, the address speaks HTTPS only' },
      ),
    ),
    proxies: Type.Array(Type.String({ minLength: 2, maxLength: 64 }), {
      default: [],
      maxItems: 64,
      description:
        'Addresses and prefixes of trusted proxies: X-Forwarded-For, -Proto and -Host are accepted only from them',
    }),
    token: Type.Optional(
      Type.String({
        minLength: 16,
        maxLength: 512,
        pattern: '^[!-~]+$',
        description:
          "The operator's token, with full access; enables the login. 16 to 512 printable characters without spaces",
      }),
    ),
    viewerToken: Type.Optional(
      Type.String({
        minLength: 16,
        maxLength: 512,
        pattern: '^[!-~]+$',
        description:
          'A read-only token, without passwords, IMEI, IMSI and ICCID; requires token. 16 to 512 printable characters without spaces',
      }),
    ),
    open: Type.Optional(
      Type.Union([Type.Literal('none'), Type.Literal('read'), Type.Literal('all')], {
        description: 'Rights of the local network without a login; default: none. `none` and `read` require token',
      }),
    ),
  },
  { additionalProperties: false },
)
export type HttpSection = Static<typeof HttpSection>

/** The kernel's own section on the TCP listeners of plugins. */
export const NetSection = Type.Object(
  {
    proxies: Type.Array(Type.String({ minLength: 2, maxLength: 64 }), {
      default: [],
      maxItems: 64,
      description:
        'Addresses and prefixes of TCP proxies: their connections begin with a PROXY protocol header that names the client',
    }),
  },
  { additionalProperties: false },
)
export type NetSection = Static<typeof NetSection>

/** The kernel's own section on the status document. */
export const InfoSection = Type.Object(
  {
    mask: Type.Union([Type.Literal(1), Type.Literal(2)], {
      default: 1,
      description: 'Bit assignment of the information mask: 1 as in the HTTP reference, 2 as in the MQTT reference',
    }),
  },
  { additionalProperties: false },
)

export type InfoSection = Static<typeof InfoSection>

/** The kernel's watchdog, for a blocked event loop. */
export const WatchdogSection = Type.Object(
  {
    warn_s: Type.Number({ default: 1, minimum: 0.3, maximum: 60, description: 'Time until a block is reported' }),
    limit_s: Type.Number({
      default: 15,
      minimum: 0,
      maximum: 3_600,
      description: 'Time until the process is ended, to be started again; 0: never',
    }),
    memory_mb: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Memory limit if the control group has none: at 80 % the service ends, and the next start leaves out the plugin that holds most; 0: no limit',
    }),
    proven_s: Type.Integer({
      default: 600,
      minimum: 1,
      maximum: 86_400,
      description: 'Run time after which a start counts as good: earlier crashes are forgotten, its settings are kept',
    }),
  },
  { additionalProperties: false },
)
export type WatchdogSection = Static<typeof WatchdogSection>

/** Trial of a change that may disconnect its caller. */
export const TrialSection = Type.Object(
  {
    window_s: Type.Integer({
      default: 90,
      minimum: 0,
      maximum: 3_600,
      description: 'Such a change is reverted unless the station is reached again within this time; 0: never reverted',
    }),
  },
  { additionalProperties: false },
)
export type TrialSection = Static<typeof TrialSection>

/** A variant file: the plugins of a hardware variant, their options and initial settings. */
export const Variant = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: 'For editors: where `variant.schema.json` is. Not read' })),
    name: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the variant' }),
    hardware: Type.String({ minLength: 1, maxLength: 64, description: 'esp.hardware of the document' }),
    serial: Type.Optional(
      Type.String({
        pattern: serialPattern,
        description:
          '{SN}, 1 to 64 letters, digits, _ or -; not `fleet`, the name of the fleet at its broker; left out: taken from the machine',
      }),
    ),
    simulator: Type.Optional(
      Type.Boolean({ description: 'Not a real machine: a reboot restarts the service in place, a shutdown ends it' }),
    ),
    http: Type.Optional(Type.Partial(HttpSection, { description: 'The HTTP server and its access rules' })),
    net: Type.Optional(Type.Partial(NetSection, { description: 'TCP listeners of plugins' })),
    info: Type.Optional(Type.Partial(InfoSection, { description: 'The status document' })),
    watchdog: Type.Optional(
      Type.Partial(WatchdogSection, { description: 'Limits that end a blocked or oversized service' }),
    ),
    trial: Type.Optional(Type.Partial(TrialSection, { description: 'Changes that may disconnect their caller' })),
    changes: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Initial values of change parameters' }),
    ),
    plugins: Type.Record(Type.String({ minLength: 1 }), Type.Record(Type.String(), Type.Unknown()), {
      description: 'Shipped name, ./path or npm package → options',
    }),
    standby: Type.Optional(
      Type.Record(Type.String({ minLength: 1 }), Type.Record(Type.String(), Type.Unknown()), {
        description:
          'Plugins that another plugin loads when they are needed (gnss-auto: drivers of receivers) → options',
      }),
    ),
  },
  { additionalProperties: false },
)
export type Variant = Static<typeof Variant>
