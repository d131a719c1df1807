import type { MqttMessage, PluginContext } from 'rtk-base/plugin'

type Handler = (message: MqttMessage) => void | Promise<void>

/** Drops retained requests: they would run again after each connect. The first one is logged, all are counted. */
export class LiveMessages {
  readonly #log: PluginContext['log']
  #retained = 0

  constructor(log: PluginContext['log']) {
    this.#log = log
  }

  /** Retained requests that were dropped since the plugin was loaded. */
  get retained(): number {
    return this.#retained
  }

  /** A handler that gets live messages only. */
  only(handle: Handler): Handler {
    return (message) => {
      if (!message.retain) return handle(message)
      this.#retained++
      if (this.#retained === 1)
        this.#log.warn(
          { topic: message.topic },
          'a retained request was dropped, and further ones are counted only: clear it at the broker with an empty retained message',
        )
    }
  }
}
