import type { EventSource, PluginContext } from 'rtk-base/plugin'
import type { Link, Links, RecoveryStep } from 'rtk-base/services'

const mostLinks = 32

/** The service `links`: how every output that leads out of the box is, as it reports itself. */
export class LinkTable implements Links {
  readonly onChange: Links['onChange']
  readonly onStep: Links['onStep']
  readonly #changed: EventSource<void>
  readonly #stepped: EventSource<RecoveryStep>
  readonly #links = new Map<string, Link>()

  constructor(ctx: PluginContext) {
    this.#changed = ctx.event<void>()
    this.#stepped = ctx.event<RecoveryStep>()
    this.onChange = this.#changed.on
    this.onStep = this.#stepped.on
  }

  get list(): readonly Link[] {
    return [...this.#links.values()]
  }

  report(link: Link): void {
    if (!this.#links.has(link.name) && this.#links.size >= mostLinks) return
    this.#links.set(link.name, link)
    this.#changed.emit()
  }

  remove(name: string): void {
    if (this.#links.delete(name)) this.#changed.emit()
  }

  stepped(step: RecoveryStep): void {
    this.#stepped.emit(step)
  }
}
