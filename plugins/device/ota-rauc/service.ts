/** RAUC on the system bus (`de.pengutronix.rauc`, 1.8 and later): one connection for each thing that is done. */

import { BusConnection, BusError, BusLost, type BusSignal, BusTimeout } from 'rtk-base/link'
import { type PluginContext, RtkError, unavailable } from 'rtk-base/plugin'
import { type InstallSteps, updateErrors } from 'rtk-base/services'

const service = 'de.pengutronix.rauc'
const installerInterface = 'de.pengutronix.rauc.Installer'
const propertiesInterface = 'org.freedesktop.DBus.Properties'
const object = { destination: service, path: '/' }
/** RAUC reads a whole bundle to answer what is in it. */
const call_ms = 60_000
/** RAUC reports each step; the longest one writes a whole file system. */
const silence_ms = 10 * 60_000

export interface RaucSlot {
  name: string
  class: string
  /** As the boot loader calls it; `''`: it does not start from there. */
  bootName: string
  booted: boolean
}

export interface Completion {
  /** 0: installed. */
  result: number
  /** RAUC had begun to write to a slot. */
  hasWritten: boolean
}

/** Waiting for the end of an installation. */
export type Watching = Pick<InstallSteps, 'signal' | 'progress'>

/** RAUC was lost from sight: it may have ended what it began, or not. */
export class OutcomeUnknown extends RtkError {
  constructor(text: string) {
    super('RTK_ERR_UNAVAILABLE', text)
  }
}

type Context = Pick<PluginContext, 'timers' | 'signal'>

/** Opens a connection, and closes it when `run` has ended. @throws RTK_ERR_UNAVAILABLE with the reason, or the error of `run` */
export async function withRauc<T>(ctx: Context, address: string, run: (rauc: RaucService) => Promise<T>): Promise<T> {
  const rauc = await RaucService.open(ctx, address)
  try {
    return await run(rauc)
  } finally {
    rauc.close()
  }
}

export class RaucService {
  readonly #bus: BusConnection
  readonly #ctx: Context
  /** Waits for the end of an installation. */
  #listener: { signal(signal: BusSignal): void; lost(reason: string): void } | undefined

  private constructor(ctx: Context, bus: BusConnection) {
    this.#ctx = ctx
    this.#bus = bus
  }

  static async open(ctx: Context, address: string): Promise<RaucService> {
    let rauc: RaucService | undefined
    const listener = () => (rauc ? rauc.#listener : undefined)
    const events = {
      signal: (signal: BusSignal) => listener()?.signal(signal),
      lost: (reason: string) => listener()?.lost(reason),
      after: (ms: number, fn: () => void) => ctx.timers.after(ms, fn),
    }
    try {
      const bus = await BusConnection.open(address, events, call_ms)
      rauc = new RaucService(ctx, bus)
      await bus.match(`type='signal',sender='${service}',path='/'`)
      await bus.match(
        `type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='${service}'`,
      )
      return rauc
    } catch (error) {
      rauc?.close()
      throw unavailable(`the system bus (${address}) cannot be reached: ${(error as Error).message}`)
    }
  }

  close(): void {
    this.#listener = undefined
    this.#bus.close()
  }

  async slots(): Promise<RaucSlot[]> {
    const [slots] = await this.#call('GetSlotStatus')
    return (Array.isArray(slots) ? slots : []).map(([name, values]) => {
      const { class: kind = '', bootname = '', state = '' } = values as Record<string, unknown>
      return { name: String(name), class: String(kind), bootName: String(bootname), booted: state === 'booted' }
    })
  }

  /** Version of a bundle; `''` if RAUC rejects it: it gives the reason only when installing. */
  async versionOf(file: string): Promise<string> {
    try {
      const [, version] = await this.#bus.call({ ...target('Info'), signature: 's', body: [file] })
      return String(version)
    } catch (error) {
      if (error instanceof BusError && !isAbsent(error)) return ''
      throw translated(error)
    }
  }

  async mark(state: 'good' | 'bad' | 'active', slot: string): Promise<string> {
    const [, message] = await this.#call('Mark', 'ss', [state, slot])
    return String(message)
  }

  async isIdle(): Promise<boolean> {
    return (await this.#property('Operation')) === 'idle'
  }

  async lastError(): Promise<string> {
    return String(await this.#property('LastError'))
  }

  /** @throws RTK_ERR_UPDATE_RUNNING, RTK_ERR_UNAVAILABLE: nothing was begun; OutcomeUnknown */
  install(file: string, watching: Watching): Promise<Completion> {
    return this.#completion(watching, async (accepted) => {
      // Options differ by version, and an unknown one is an error.
      const body = [file, {}]
      await this.#bus.call({ ...target('InstallBundle'), signature: 'sa{sv}', body, answered: accepted })
    })
  }

  /** The end of the installation that is under way; undefined when there is none. @throws OutcomeUnknown */
  async follow(watching: Watching): Promise<Completion | undefined> {
    let idle = false
    const completion = this.#completion(watching, async (accepted, settle) => {
      accepted()
      idle = await this.isIdle()
      if (idle) settle()
    })
    const found = await completion
    return idle ? undefined : found
  }

  async #completion(
    { signal: waiter, progress }: Watching,
    begin: (accepted: () => void, settle: () => void) => Promise<void>,
  ): Promise<Completion> {
    const { timers } = this.#ctx
    const signals = [this.#ctx.signal, waiter]
    const stopped = () => `the plugin ${waiter.aborted ? 'ota' : 'ota-rauc'} was stopped`
    // A signal that has aborted before tells no listener.
    if (signals.some(({ aborted }) => aborted)) throw unavailable(`${stopped()}: nothing was installed, send it again`)
    let end: (outcome: Completion | Error) => void = () => {}
    const outcome = new Promise<Completion | Error>((resolve) => {
      end = resolve
    })
    const lost = (text: string) => end(new OutcomeUnknown(`${text}; \`rauc status\` shows the result`))
    const gone = () => lost(`${stopped()} while RAUC installed`)
    const silent = () => lost(`RAUC has reported nothing for ${silence_ms / 60_000} min`)
    let limit = timers.after(silence_ms, silent)
    let isAccepted = false
    let hasWritten = false
    for (const signal of signals) signal.addEventListener('abort', gone)
    this.#listener = {
      lost: (reason) => lost(`the connection to RAUC ended while it installed: ${reason}`),
      signal: ({ interface: name, member, body }) => {
        if (!isAccepted) return
        void limit()
        limit = timers.after(silence_ms, silent)
        if (member === 'NameOwnerChanged' && body[0] === service && body[2] === '') {
          lost('RAUC ended while it installed')
        } else if (name === installerInterface && member === 'Completed') {
          end({ result: Number(body[0]), hasWritten })
        } else if (name === propertiesInterface && member === 'PropertiesChanged') {
          const [percent, text] = progressOf(body)
          if (percent !== undefined && percent < 100) progress(percent)
          hasWritten ||= /^(Updating|Copying) /.test(text)
        }
      },
    }
    try {
      await begin(
        () => {
          isAccepted = true
        },
        () => end({ result: 0, hasWritten }),
      ).catch((error) => {
        throw isAccepted && !(error instanceof BusError)
          ? new OutcomeUnknown((error as Error).message)
          : translated(error)
      })
      const found = await outcome
      if (found instanceof Error) throw found
      return found
    } finally {
      this.#listener = undefined
      for (const signal of signals) signal.removeEventListener('abort', gone)
      void limit()
    }
  }

  async #property(name: string): Promise<unknown> {
    const call = { ...object, interface: propertiesInterface, member: 'Get', signature: 'ss' }
    return (await this.#said(this.#bus.call({ ...call, body: [installerInterface, name] })))[0]
  }

  #call(member: string, signature = '', body: readonly unknown[] = []): Promise<readonly unknown[]> {
    return this.#said(this.#bus.call({ ...target(member), signature, body }))
  }

  #said<T>(answer: Promise<T>): Promise<T> {
    return answer.catch((error) => {
      throw translated(error)
    })
  }
}

const target = (member: string) => ({ ...object, interface: installerInterface, member })

function progressOf([, values]: readonly unknown[]): [percent: number | undefined, text: string] {
  const { Progress: progress } = (values ?? {}) as Record<string, unknown>
  if (!Array.isArray(progress)) return [undefined, '']
  return [Number(progress[0]), String(progress[1])]
}

/** The service is absent and cannot be activated. */
const isAbsent = ({ kind }: BusError) => /\.(ServiceUnknown|NameHasNoOwner|Spawn\.\w+|NoReply|Disconnected)$/.test(kind)

/** For the operator. */
function translated(error: unknown): Error {
  if (error instanceof RtkError) return error
  const { message } = error as Error
  if (error instanceof BusLost || error instanceof BusTimeout) return unavailable(`RAUC does not answer: ${message}`)
  if (!(error instanceof BusError)) return error as Error
  if (isAbsent(error)) {
    return unavailable(
      `RAUC is not running (${message}): install it with its service, and look at \`journalctl -u rauc\``,
    )
  }
  if (error.kind.endsWith('.AccessDenied')) {
    return unavailable(`RAUC may not be called by this user (${message}): allow it in the policy of the system bus`)
  }
  if (/already processing/i.test(message))
    return new RtkError(updateErrors.RTK_ERR_UPDATE_RUNNING, `RAUC is busy: ${message}`)
  return unavailable(`RAUC refused: ${message}`)
}
