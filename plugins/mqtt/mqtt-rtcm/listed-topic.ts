import type { PluginContext } from 'rtk-base/plugin'
import { mqttLink, type RtcmStream } from 'rtk-base/services'

/** The topic as a line of `gnss.rtcm.subscribers`: from the first publication until one finds the link down. */
export class ListedTopic {
  readonly #ctx: PluginContext
  readonly #stream: Pick<RtcmStream, 'list'>
  readonly #topic: string
  #entry: ReturnType<RtcmStream['list']> | undefined

  constructor(ctx: PluginContext, stream: Pick<RtcmStream, 'list'>, topic: string) {
    this.#ctx = ctx
    this.#stream = stream
    this.#topic = topic
    ctx.defer(() => this.offline())
  }

  published(): void {
    if (this.#entry === undefined) this.#entry = this.#list()
    else this.#entry.touch()
  }

  offline(): void {
    this.#entry?.close()
    this.#entry = undefined
  }

  #list(): ReturnType<RtcmStream['list']> {
    const { services } = this.#ctx
    return this.#stream.list({
      via: 'mqtt',
      name: this.#topic,
      relays: true,
      get ip() {
        return services.find(mqttLink)?.brokerAddress ?? ''
      },
    })
  }
}
