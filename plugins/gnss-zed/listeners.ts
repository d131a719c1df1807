import type { PluginContext } from 'rtk-base/plugin'
import type { ReceiverFix, RtcmFrame, SatelliteResidual } from 'rtk-base/services'

/** Subscribers of one event. One that throws costs itself only, and is named in the log once a minute at most by the runtime. */
export class Listeners<T> {
  readonly #log: PluginContext['log']
  /** Replaced, never changed, so that a subscriber may come or go while it is being told. */
  #all: readonly ((value: T) => void)[] = []

  constructor(log: PluginContext['log']) {
    this.#log = log
  }

  add(fn: (value: T) => void): () => void {
    const own = (value: T) => fn(value)
    this.#all = [...this.#all, own]
    return () => {
      this.#all = this.#all.filter((other) => other !== own)
    }
  }

  tell(value: T): void {
    for (const fn of this.#all) {
      try {
        fn(value)
      } catch (error) {
        this.#log.error({ err: error }, 'a subscriber of the receiver failed; the others go on')
      }
    }
  }
}

/** Who listens to what of the receiver. */
export class Audience {
  readonly rtcm: Listeners<RtcmFrame>
  readonly fix: Listeners<ReceiverFix>
  readonly state: Listeners<void>
  readonly residuals: Listeners<readonly SatelliteResidual[]>
  readonly secondFix: Listeners<ReceiverFix>
  readonly warning: Listeners<string>

  constructor(log: PluginContext['log']) {
    this.rtcm = new Listeners(log)
    this.fix = new Listeners(log)
    this.state = new Listeners(log)
    this.residuals = new Listeners(log)
    this.secondFix = new Listeners(log)
    this.warning = new Listeners(log)
  }
}
