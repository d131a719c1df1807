import { defineErrors, type ErrorKind } from '../schemas/error-table.js'

/**
 * The coded errors of the runtime itself; plugins have tables of their own. `npm run docs` writes all to
 * runtime/docs/reference/errors.md. A retired code is never used again.
 */
export const errorTable = defineErrors({
  RTK_ERR_VARIANT: { status: 400, help: 'Correct the field that the message names, in the variant file or in --set.' },
  RTK_ERR_USAGE: { status: 400, help: 'See `rtk-base --help`.' },
  RTK_ERR_DATA_LOCKED: {
    status: 409,
    help: 'Another rtk-base uses this data folder: stop it, or name another folder with --data.',
  },
  RTK_ERR_DATA_FOLDER: {
    status: 500,
    help: 'Make the data folder readable and writable for the user that runs the service, or name another folder with --data.',
  },
  RTK_ERR_LISTEN: { status: 500, help: 'The HTTP address is in use or not allowed: set http.port or http.host.' },
  RTK_ERR_NOT_RUNNING: { status: 503, help: 'No service answers for this data folder: the message says what to do.' },
  RTK_ERR_REPORT: { status: 500, help: 'The report was not written: name another file with --out.' },
  RTK_ERR_STOPPED: { status: 503, help: 'The service was asked to stop: start it again if you need it.' },
  RTK_ERR_PLUGIN_NOT_FOUND: { status: 404, help: 'Check the name or the path in the variant.' },
  RTK_ERR_PLUGIN_BUILD: {
    status: 422,
    help: 'Correct the source at the line that the message names; the old version keeps running.',
  },
  RTK_ERR_PLUGIN_DIGEST: { status: 422, help: 'The file does not match the manifest: install it again.' },
  RTK_ERR_PLUGIN_SIZE: {
    status: 422,
    help: 'The code of the plugin is too large: move data and images to separate files, and remove unused packages.',
  },
  RTK_ERR_PLUGIN_INVALID: {
    status: 422,
    help: 'The module must have `export default definePlugin({ name, version, api, setup })`.',
  },
  RTK_ERR_PLUGIN_API_RANGE: { status: 422, help: 'Install a version of the plugin made for this version of rtk-base.' },
  RTK_ERR_PLUGIN_OPTIONS: { status: 422, help: 'Correct the options of the plugin in the variant or in --set.' },
  RTK_ERR_PLUGIN_SETUP: { status: 422, help: 'The plugin threw in `setup`, or made it asynchronous: see the message.' },
  RTK_ERR_PLUGIN_START: {
    status: 500,
    help: 'The plugin could not start: see the cause in the log. It is retried automatically.',
  },
  RTK_ERR_PLUGIN_TIMEOUT: {
    status: 504,
    help: 'The plugin did not finish in its time: the message names it and the phase.',
  },
  RTK_ERR_PROCESS_EXIT: {
    status: 500,
    help: 'A plugin must not end the process: throw, or ask the service `device` for a restart.',
  },
  RTK_ERR_PLUGIN_CYCLE: { status: 422, help: 'Plugins need each other in a circle: remove one of the `needs`.' },
  RTK_ERR_RELOAD_FAILED: {
    status: 500,
    help: 'The new version could not start: correct it. The message tells whether the old one runs.',
  },
  RTK_ERR_NEEDS_UNMET: {
    status: 409,
    help: 'Load the plugin that provides the service first; the old version keeps running.',
  },
  RTK_ERR_NOT_LOADED: { status: 404, help: 'See `rtk-base plugins list` for the loaded plugins.' },
  RTK_ERR_ALREADY_LOADED: { status: 409, help: 'The plugin is already loaded: use reload.' },
  RTK_ERR_CONFIG_KEY_TAKEN: { status: 422, help: 'Two plugins define the same parameter: rename one.' },
  RTK_ERR_INFO_PATH_TAKEN: { status: 422, help: 'Two plugins build the same part of the document: move one.' },
  RTK_ERR_COMMAND_TAKEN: { status: 422, help: 'Two plugins have the same command: rename one.' },
  RTK_ERR_ROUTE_TAKEN: { status: 422, help: 'Two plugins have the same route: move one.' },
  RTK_ERR_CODE_TAKEN: {
    status: 422,
    help: 'An error code means one thing: rename it, or share the table with the plugin that has it.',
  },
  RTK_ERR_SERVICE_TAKEN: {
    status: 422,
    help: 'Two plugins provide the same service: leave one of them out of the variant.',
  },
  RTK_ERR_SERVICE_MISSING: {
    status: 500,
    help: 'Name the token in `needs` (or `provides`), and use it from `start` on.',
  },
  RTK_ERR_SERVICE_SHAPE: {
    status: 422,
    help: 'Provide every required member of the interface that the token names: the message lists what is missing.',
  },
  RTK_ERR_LATE_REGISTRATION: { status: 500, help: 'Register in `setup`; nothing can be registered later.' },
  RTK_ERR_ROUTES: { status: 422, help: 'Fastify refused the routes: see the message.' },
  RTK_ERR_CHANGE_BODY: { status: 400, help: 'Send one JSON object with change parameters as its fields.' },
  RTK_ERR_CHANGE_NESTED: {
    status: 500,
    help: 'A listener of a change must not wait for another change: make it later, e.g. with timers.after(0, …).',
  },
  RTK_ERR_BODY_TOO_LARGE: { status: 413, help: 'Send less: the message names the limit.' },
  RTK_ERR_MASK: { status: 400, help: 'Send a number between 0 and 0xFFFFFFFF, for example ?0x102.' },
  RTK_ERR_COMMAND_UNKNOWN: { status: 404, help: 'See `rtk-base console` and its `help` for every command.' },
  RTK_ERR_RECORD_RANGE: {
    status: 422,
    help: 'Send from and to as ISO 8601 times or epoch seconds, from before to.',
  },
  RTK_ERR_COMMAND_VALUE: { status: 400, help: 'Send a value that the message allows.' },
  RTK_ERR_ACTION_RUNNING: { status: 409, help: 'Wait until the action has ended.' },
  RTK_ERR_UNAVAILABLE: { status: 503, help: 'Not possible now: the message gives the reason. Try again later.' },
  RTK_ERR_STORE_WRITE: {
    status: 503,
    help: 'The storage could not be written (full or damaged): nothing was changed.',
  },
  RTK_ERR_NVS_LIMIT: { status: 413, help: 'Delete values that are not needed: the message names the limit.' },
  RTK_ERR_NVS_VALUE: {
    status: 400,
    help: 'Keys have 1-64 characters, values are strings or finite numbers of at most 4,000 bytes.',
  },
  RTK_ERR_NVS_OWNED: { status: 403, help: 'This namespace belongs to the service: use POST /change.' },
  RTK_ERR_NVS_PROTECTED: { status: 403, help: 'The protected namespace can be neither read nor written.' },
  RTK_ERR_FORBIDDEN_PEER: {
    status: 403,
    help: 'Only the local network may use this service; set http.token to allow others.',
  },
  RTK_ERR_FORBIDDEN_HOST: {
    status: 403,
    help: 'Call the station by its address or a local name, or add the name to http.hosts.',
  },
  RTK_ERR_FORBIDDEN_ORIGIN: {
    status: 403,
    help: 'A page of another site or port may neither change this station nor open its event streams.',
  },
  RTK_ERR_OLD_PASSWORD: {
    status: 403,
    help: "Send the operator's current password or token as `old`. If it is lost: rtk-base password --reset on the machine.",
  },
  RTK_ERR_PASSWORD: {
    status: 400,
    help: 'Choose another password, or set the password of the operator before that of the viewer.',
  },
  RTK_ERR_CONFLICT: { status: 409, help: 'Resolve the conflict that the message names, then send the request again.' },
  RTK_ERR_FORBIDDEN_ROLE: {
    status: 403,
    help: "Log in with the operator's password or token (in a fleet: with the key of a person who has this role).",
  },
  RTK_ERR_TOO_MANY_REQUESTS: {
    status: 429,
    help: 'Send fewer requests: the limit is 100 per second and address. Only a few passwords may wait to be checked.',
  },
  RTK_ERR_TOO_MANY_TRIES: { status: 429, help: 'Wait a minute, then send the right password or token.' },
  RTK_ERR_REQUEST: { status: 400, help: 'Correct the request: the message names the mistake.' },
  RTK_ERR_NOT_FOUND: {
    status: 404,
    help: 'Check method and path; the plugin that provides the route may not be loaded.',
  },
  RTK_ERR_METHOD: { status: 405, help: 'Send the request with the method that the message names.' },
  RTK_ERR_REQUEST_TIMEOUT: { status: 408, help: 'Send the whole request in time.' },
  RTK_ERR_REQUEST_HEADERS: { status: 431, help: 'Send fewer or shorter headers.' },
  RTK_ERR_INTERNAL: { status: 500, help: 'The plugin behind this route failed: see the log.' },
  RTK_ERR_UNAUTHORIZED: {
    status: 401,
    help: 'Send `Authorization: Bearer <http.token or password; in a fleet: your access key>`, or log in: POST /session.',
  },
  RTK_ERR_NET_LISTEN: {
    status: 503,
    help: 'Choose another host or port, or stop the program that uses the address: `sudo ss -lntup` names it.',
  },
  RTK_ERR_ABORTED: {
    status: 503,
    help: 'The operation was abandoned: the plugin was stopped, or its caller gave up.',
  },
  RTK_ERR_PROCESS_NOT_FOUND: {
    status: 503,
    help: 'Install the program that the message names, or give this user the right to run it.',
  },
  RTK_ERR_PROCESS_LIMIT: {
    status: 503,
    help: 'The plugin starts programs faster than they end: wait until some have ended.',
  },
  RTK_ERR_PROCESS_TIMEOUT: { status: 504, help: 'The program did not end in its time: run it by hand to see why.' },
  RTK_ERR_PROCESS_OUTPUT: { status: 502, help: 'The program wrote more than allowed: request less output.' },
  RTK_ERR_FETCH_URL: { status: 400, help: 'Send an http or https URL; a pinned certificate needs https.' },
  RTK_ERR_FETCH_TARGET: { status: 400, help: 'The station sends nothing to this address: enter another one.' },
  RTK_ERR_FETCH_UNREACHABLE: { status: 502, help: 'Check name, address and network: the message names the cause.' },
  RTK_ERR_FETCH_REFUSED: {
    status: 502,
    help: 'The server answers, but no program listens on this port: check the port, or start the program.',
  },
  RTK_ERR_FETCH_CERTIFICATE: {
    status: 502,
    help: 'The server is not the expected server, or its certificate has expired: check the certificate before you change the pin.',
  },
  RTK_ERR_FETCH_TIMEOUT: { status: 504, help: 'The server did not answer in time: try again later.' },
  RTK_ERR_FETCH_TOO_LARGE: { status: 502, help: 'The answer is larger than the plugin accepts: check the URL.' },
  RTK_ERR_FETCH_REDIRECT: { status: 502, help: 'Use the URL that the server redirects to, if you trust it.' },
  RTK_ERR_FETCH_ANSWER: {
    status: 502,
    help: 'The response was truncated or is not HTTP: try again, then check the server.',
  },
  RTK_ERR_DATA_QUOTA: {
    status: 503,
    help: 'Delete files that are not needed, or give the plugin a larger quota: the message names the limit.',
  },
  RTK_ERR_METRIC: {
    status: 422,
    help: 'Correct name, unit, help or labels of the metric: the message names the mistake.',
  },
  RTK_ERR_METRIC_TAKEN: { status: 422, help: 'Two plugins have the same metric: rename one.' },
})

export type RtkErrorCode = keyof typeof errorTable

/**
 * A coded error. `message` describes the failure and quotes the offending value; `help` describes the remedy, `statusCode` is the HTTP
 * status of the answer.
 */
export class RtkError extends Error {
  readonly code: string
  readonly statusCode: number
  readonly help: string
  /** For an error in a variant: the path to the wrong field, as a list of names. */
  readonly place?: readonly string[]
  /** The individual errors, if this error combines several. */
  readonly all?: readonly RtkError[]
  /** @param kind a code of the runtime, or an entry of a plugin's own table */
  constructor(
    kind: RtkErrorCode | ErrorKind,
    message: string,
    options: { cause?: unknown; place?: readonly string[]; all?: readonly RtkError[] } = {},
  ) {
    super(message, options)
    this.name = 'RtkError'
    const { code, status, help } = typeof kind === 'string' ? ownKind(kind) : kind
    this.code = code
    this.statusCode = status
    this.help = help
    this.place = options.place
    this.all = options.all
  }
}

/** Plugins need not be type-checked: a code that nobody knows is an error of the plugin. */
const ownKind = (code: string): ErrorKind =>
  Object.hasOwn(errorTable, code) ? errorTable[code as RtkErrorCode] : { ...errorTable.RTK_ERR_INTERNAL, code }

/** The kind of an error, also of one that a plugin made with its own copy of the class. */
export const kindOf = ({ code, statusCode, help }: Pick<RtkError, 'code' | 'statusCode' | 'help'>): ErrorKind => ({
  code,
  status: statusCode,
  help,
})

/** One error for several mistakes, so that a person sees all of them at once. */
export function together(mistakes: readonly RtkError[]): RtkError {
  const all = mistakes.flatMap((mistake) => mistake.all ?? [mistake])
  const [first] = all
  if (all.length === 1) return first
  return new RtkError(kindOf(first), all.map(({ message }) => message).join('\n'), { all })
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error)
  } catch {
    // A getter that throws, an object without a prototype, a revoked proxy: plugins can throw anything.
    return 'something that cannot be shown was thrown'
  }
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program or plugin uses it',
  EADDRNOTAVAIL: 'this machine has no such address (yet)',
  EACCES: 'not allowed (ports below 1024 need a privilege)',
  ENOTFOUND: 'the host name is not known',
}

/** Explains in words why a listener could not open its address. */
export const listenReason = (error: unknown): string =>
  listenReasons[(error as NodeJS.ErrnoException).code ?? ''] ?? messageOf(error)
