import { type Static, Type } from 'typebox'

/** The kernel's own HTTP section of a variant. */
export const HttpSection = Type.Object(
  {
    host: Type.String({ default: '0.0.0.0', description: 'Address to listen on' }),
    port: Type.Integer({ default: 80, minimum: 0, maximum: 65_535, description: '0: any free port' }),
    hosts: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
      default: [],
      description: 'Further names by which the station may be called (Host header)',
    }),
    proxies: Type.Array(Type.String({ minLength: 2, maxLength: 64 }), {
      default: [],
      maxItems: 64,
      description:
        'Addresses and prefixes of proxies: their X-Forwarded-For, -Proto and -Host are believed, those of nobody else',
    }),
    token: Type.Optional(
      Type.String({
        minLength: 16,
        maxLength: 512,
        pattern: '^[!-~]+$',
        description:
          "16 to 512 printable characters without spaces: the operator's token, which can do everything; it turns on the login",
      }),
    ),
    viewerToken: Type.Optional(
      Type.String({
        minLength: 16,
        maxLength: 512,
        pattern: '^[!-~]+$',
        description:
          '16 to 512 printable characters without spaces: a second token that can only read, without the passwords of the document; needs token',
      }),
    ),
    open: Type.Optional(
      Type.Union([Type.Literal('none'), Type.Literal('read'), Type.Literal('all')], {
        description: 'What the local network may do without a login where token is set; left out: nothing',
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
        'Addresses and prefixes of TCP proxies: their connections begin with a header of the PROXY protocol, which says for whom',
    }),
  },
  { additionalProperties: false },
)
export type NetSection = Static<typeof NetSection>

/** The kernel's own section on the information document. */
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

/** The kernel's watchdog: what happens when something blocks the event loop. */
export const WatchdogSection = Type.Object(
  {
    warn_s: Type.Number({ default: 1, minimum: 0.3, maximum: 60, description: 'Reported after so long' }),
    limit_s: Type.Number({
      default: 15,
      minimum: 0,
      maximum: 3_600,
      description: 'The process is ended after so long, to be started again; 0: never',
    }),
    memory_mb: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Memory that the service may use where its control group has no limit: at 80 % it ends, and the plugin that holds most stays out of the next start; 0: no limit',
    }),
    proven_s: Type.Integer({
      default: 600,
      minimum: 1,
      maximum: 86_400,
      description:
        'A start that has run for so long counts as good: earlier crashes are forgotten, its settings are kept',
    }),
  },
  { additionalProperties: false },
)
export type WatchdogSection = Static<typeof WatchdogSection>

/** What happens after a change that may cut its caller off. */
export const TrialSection = Type.Object(
  {
    window_s: Type.Integer({
      default: 90,
      minimum: 0,
      maximum: 3_600,
      description: 'Such a change is set back unless the station is reached again in this time; 0: never set back',
    }),
  },
  { additionalProperties: false },
)
export type TrialSection = Static<typeof TrialSection>

/** A variant file: which plugins run on a hardware variant, with what options and initial settings. */
export const Variant = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: 'For editors: where `variant.schema.json` is. Not read' })),
    name: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the variant' }),
    hardware: Type.String({ minLength: 1, maxLength: 64, description: 'esp.hardware of the document' }),
    serial: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,64}$',
        description: '{SN}, 1 to 64 letters, digits, _ or -; left out: taken from the machine',
      }),
    ),
    simulator: Type.Optional(
      Type.Boolean({ description: 'No machine behind it: a reboot restarts the service in place' }),
    ),
    http: Type.Optional(Type.Partial(HttpSection, { description: 'The HTTP server and its access rules' })),
    net: Type.Optional(Type.Partial(NetSection, { description: 'TCP listeners of plugins' })),
    info: Type.Optional(Type.Partial(InfoSection, { description: 'The information document' })),
    watchdog: Type.Optional(
      Type.Partial(WatchdogSection, { description: 'What ends a service that is blocked or too large' }),
    ),
    trial: Type.Optional(Type.Partial(TrialSection, { description: 'Changes that may cut their caller off' })),
    changes: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Initial values of change parameters' }),
    ),
    plugins: Type.Record(Type.String({ minLength: 1 }), Type.Record(Type.String(), Type.Unknown()), {
      description: 'Shipped name, ./path or npm package → its options',
    }),
  },
  { additionalProperties: false },
)
export type Variant = Static<typeof Variant>
