import { feed } from 'rtk-base/ntrip'
import type { PluginContext } from 'rtk-base/plugin'
import type { NtripServerInfo } from 'rtk-base/schemas'
import { rtcmStream } from 'rtk-base/services'
import { Value } from 'typebox/value'
import { CasterPush } from './push.js'
import { KeptWait } from './retry.js'
import { isEnabled, nameOf, type Target } from './target.js'

/** A caster that is switched off, in the document. */
const offBlock = ({ host, port = 2101, mount, version = 1, tls = false }: Target): NtripServerInfo[number] => ({
  ...{ host: host.slice(0, 64), port, mount: mount.slice(0, 32), version, tls },
  ...{ state: 'off', text: '', next: 0, since: 0, ip: '', sent: 0, dropped: 0 },
})

/** One push for each caster that is switched on. */
export class CasterPushes {
  readonly #ctx: PluginContext
  #all: CasterPush[] = []
  /** Switched off. */
  #off: readonly Target[] = []
  #kept: Record<string, KeptWait> = {}
  #writing: Promise<void> = Promise.resolve()

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  async start(targets: readonly Target[]): Promise<void> {
    const { services, store } = this.#ctx
    const kept = await store.get('retries')
    for (const [name, state] of Object.entries((kept ?? {}) as Record<string, unknown>)) {
      if (Value.Check(KeptWait, state)) this.#kept[name] = state
    }
    const stream = services.use(rtcmStream)
    feed(this.#ctx, stream, () => this.#all)
    this.apply(targets)
  }

  /** Unchanged targets continue; changed ones are tried at once. */
  apply(all: readonly Target[]): void {
    const targets = all.filter(isEnabled)
    this.#off = all.filter((target) => !isEnabled(target))
    const same = (push: CasterPush) => targets.some((target) => Value.Equal(target, push.target))
    const old = this.#all
    for (const push of old) if (!same(push)) push.stop()
    const before = new Set(old.map(({ target }) => nameOf(target)))
    this.#all = targets.map((target) => {
      const there = old.find((push) => Value.Equal(target, push.target))
      if (there) return there
      const name = nameOf(target)
      // Other settings for the same mountpoint may be the remedy: the wait ends, the least distance stays.
      const kept = before.has(name) ? undefined : this.#kept[name]
      const push = new CasterPush(this.#ctx, this.#ctx.services.use(rtcmStream), target, kept, (wait) =>
        this.#keep(name, wait),
      )
      push.start()
      return push
    })
    const count = `${targets.length} ${targets.length === 1 ? 'caster' : 'casters'}`
    this.#ctx.status(targets.length === 0 ? 'no caster is set' : count)
  }

  /** Resolves when the delays are stored: a restart of the service must not cause an extra attempt. */
  async stop(): Promise<void> {
    for (const push of this.#all) push.stop()
    await this.#writing
  }

  get acknowledged(): number {
    return this.#all.filter((push) => /^(acknowledged|proven)$/.test(push.block().state)).length
  }

  isAccepted(name: string): boolean {
    const push = this.#all.find(({ target }) => nameOf(target) === name)
    return push !== undefined && /^(accepted|acknowledged|proven)$/.test(push.block().state)
  }

  block() {
    return [...this.#all.map((push) => push.block()), ...this.#off.map(offBlock)]
  }

  /** Written when a caster asks for a wait, and when none of its waits counts any more: not with every attempt. */
  #keep(name: string, wait: KeptWait | undefined): void {
    if (wait === undefined && !Object.hasOwn(this.#kept, name)) return
    const names = new Set(this.#all.map(({ target }) => nameOf(target)))
    const others = Object.entries(this.#kept).filter(([one]) => one !== name && names.has(one))
    this.#kept = Object.fromEntries(wait ? [...others, [name, wait]] : others)
    const retries = this.#kept
    this.#writing = this.#writing
      .then(() => this.#ctx.store.batch({ retries }))
      .catch((error) => this.#ctx.log.debug({ err: error }, 'the retry delays of the casters could not be stored'))
  }
}
