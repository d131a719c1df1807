/** Provided by the runtime: the operations of every interface (HTTP, MQTT, console), and the running plugins. */
import type { Event } from '../event.js'
import type { ActionEntry, ChangeAnswer, ParameterEntry, PluginReport } from '../station.js'
import { defineService } from '../token.js'

export type { ActionEntry, ParameterEntry, PluginReport, PluginStateName } from '../station.js'
export type ChangeResult = ChangeAnswer

/** The answer of an action: for a person, and for a program. */
export interface ActionResult {
  text: string
  value?: unknown
}

export interface CommandResult {
  /** HTTP status: 200, 400 bad value, 404 unknown, 503 not available now, 500 the owner failed. */
  status: number
  text: string
  /** The command as a log or a record may keep it: without secret values. */
  shown: string
}

export type CallSource = 'http' | 'mqtt' | 'console' | 'plugin'

/** The operations on the station, the same for every interface. */
export interface Station {
  /** Serial number of the station. */
  readonly serial: string
  /**
   * One change transaction. `values` is the received JSON value; anything but an object rejects with
   * RTK_ERR_CHANGE_BODY. Parameters that end the caller's link are applied after `answered` resolves.
   * @param options.address the station address that the caller used, if known
   */
  change(
    values: unknown,
    options: { source: CallSource; answered?: Promise<void>; address?: string },
  ): Promise<ChangeAnswer>
  /**
   * An unconfirmed change that may have disconnected its caller. A caller on the same path or `confirmChange` confirms it. It is
   * reverted after `left_s`. Undefined: none.
   */
  readonly trial: { parameters: string[]; left_s: number } | undefined
  /** Keeps the provisional change. False: there is none. */
  confirmChange(): Promise<boolean>
  /** Reverts the provisional change now. False: there is none. */
  undoChange(): Promise<boolean>
  /** Every parameter with its value, sorted by name. */
  parameters(): ParameterEntry[]
  /**
   * Runs an action with an input that fits its schema.
   * @throws RTK_ERR_COMMAND_VALUE (`all`: an error for each wrong field, its name in `place`), RTK_ERR_COMMAND_UNKNOWN,
   *   RTK_ERR_ACTION_RUNNING, RTK_ERR_UNAVAILABLE, and what the action throws
   */
  act(name: string, input: unknown, options: { source: CallSource }): Promise<ActionResult>
  /**
   * Runs the text of a command, `name` or `name=value`. Never rejects.
   * @param options.secret reads a secret value, where the text is shown to others (a URL): a text with one is refused then
   */
  command(text: string, options: { source: CallSource; secret?: () => string }): Promise<CommandResult>
  /** Every action, sorted by name. */
  actions(): ActionEntry[]
  /** The status document. The bits of the mask are those of HTTP, unless the variant sets `info.mask` to 2. Omitted: everything. */
  document(mask?: number): Record<string, unknown>
  /** The serialised document, cached for up to 100 ms. For a viewer, passwords, IMEI, IMSI and ICCID are empty. */
  documentText(mask?: number, reader?: 'viewer' | 'operator'): string
  plugins(): PluginReport[]
  /** A plugin came, went, or has another state; at most 10 times a second. */
  readonly onPlugins: Event<void>
  /** A support archive (tar.gz, at most 5 MB): full state, logs and the flight record, without secrets. */
  report(): Promise<Uint8Array>
  /** Resets the counters of the document (not those of `metrics`) and raises `onCountersReset`. */
  resetCounters(): void
  /** Plugins with counters restart them from 0. */
  readonly onCountersReset: Event<void>
  readonly nvs: {
    namespaces(): Promise<string[]>
    /** @throws RTK_ERR_NVS_PROTECTED */
    read(namespace: string): Promise<Record<string, unknown>>
    /** Durable when it resolves. @throws RTK_ERR_NVS_VALUE, _LIMIT, _OWNED, _PROTECTED, RTK_ERR_STORE_WRITE */
    write(namespace: string, values: unknown): Promise<number>
  }
}
export const station = defineService<Station>('station')
