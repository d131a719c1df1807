/** Provided by the runtime: the operations that every surface offers, and the plugins that run. */
import type { Event } from '../event.js'
import type { ChangeAnswer, CommandEntry, ParameterEntry, PluginReport } from '../station.js'
import { defineService } from '../token.js'

export type { CommandEntry, ParameterEntry, PluginReport, PluginStateName } from '../station.js'
export type ChangeResult = ChangeAnswer

export interface CommandResult {
  /** As HTTP would answer: 200, 400 bad value, 404 unknown, 503 not now, 500 the owner failed. */
  status: number
  text: string
}

export type CallSource = 'http' | 'mqtt' | 'console' | 'plugin'

/** What every surface (HTTP, MQTT, console) offers: the same operations on the same station. */
export interface Station {
  /** {SN} */
  readonly serial: string
  /**
   * One change transaction. `values` is what came off the wire; anything but a JSON object rejects with
   * RTK_ERR_CHANGE_BODY. Parameters that end the caller's link are applied after `answered` resolves.
   * @param options.address the station's own address that the caller reached, where it is known
   */
  change(
    values: unknown,
    options: { source: CallSource; answered?: Promise<void>; address?: string },
  ): Promise<ChangeAnswer>
  /**
   * A change that may have cut its caller off, until it is confirmed: by a caller who comes the same way, or by `confirmChange`. It
   * is set back after `left_s`. Undefined: there is none.
   */
  readonly trial: { parameters: string[]; left_s: number } | undefined
  /** Keeps the change on trial. False: there is none. */
  confirmChange(): Promise<boolean>
  /** Sets the change on trial back now. False: there is none. */
  undoChange(): Promise<boolean>
  /** Every change parameter with its value, by name. */
  parameters(): ParameterEntry[]
  /** `text` is `name` or `name=value`. Never rejects. */
  command(text: string, options: { source: CallSource; signal?: AbortSignal }): Promise<CommandResult>
  /** Every command with its help line. */
  commands(): CommandEntry[]
  /** The information document. The mask is read by assignment 1 (HTTP) unless the variant says otherwise; none: everything. */
  document(mask?: number): Record<string, unknown>
  /** The same, serialised; reused for up to 100 ms. For a viewer the passwords in it are empty. */
  documentText(mask?: number, reader?: 'viewer' | 'operator'): string
  /**
   * Something that the document shows has changed, at most 10 times a second. Figures that change all the time (uptime,
   * position) raise no event: who shows them reads the document when it shows them.
   */
  readonly onDocument: Event<void>
  plugins(): PluginReport[]
  /** An archive (tar.gz, at most 5 MB) for whoever helps: how everything is, logs and the flight record, without secrets. */
  report(): Promise<Uint8Array>
  /** Sets the counters of the document back, besides those of `metrics`: raises `onCountersReset`. */
  resetCounters(): void
  /** Whoever counts something begins from 0. */
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
