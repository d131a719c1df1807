import type { TcpQueues } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import type { BaseMount, OpenMount, RtcmFrame } from 'rtk-base/services'
import type { Known, Rover } from '../mount.js'
import { RelayedMount } from '../relayed.js'
import type { MountUsers } from './index.js'
import { Witnesses } from './witnesses.js'

/** A mountpoint of the service `mount-source`: its base is only asked for data while it has a rover. */
export class SourcedBase extends RelayedMount {
  readonly unverified = false
  readonly #source: MountUsers
  #base: BaseMount
  #open: OpenMount | undefined
  readonly #witnesses = new Witnesses()

  constructor(ctx: PluginContext, base: BaseMount, source: MountUsers) {
    super(ctx, base.name, source)
    this.#source = source
    this.#base = base
  }

  joined(user: string): () => void {
    return this.#source.joined(this, user)
  }

  get place(): string {
    return this.#base.place || this.name
  }

  get generator(): string {
    return this.#base.generator
  }

  get offered(): boolean {
    return this.#base.offered
  }

  /** As announced where nothing was relayed yet. */
  override get arp() {
    return super.arp ?? this.#base.arp
  }

  override add(rover: Rover, before?: Known): void {
    if (!this.#open) this.#start()
    super.add(rover, before)
  }

  override delete(rover: Rover): void {
    if (!this.rovers.has(rover)) return
    super.delete(rover)
    this.#witnesses.delete(rover)
    if (this.rovers.size === 0) this.close()
  }

  /** The source was replaced, or has the base anew: its rovers keep the position that they have. */
  replace(base: BaseMount): void {
    if (base === this.#base) return
    const isOpen = this.#open !== undefined
    this.#open = undefined
    this.#base = base
    if (isOpen) this.#start()
  }

  close(): void {
    this.#open?.close()
    this.#open = undefined
    this.#witnesses.clear()
    this.forget()
  }

  /** Tells the source which epochs were acknowledged. */
  acknowledge(queues: TcpQueues): void {
    const epochs = this.#witnesses.acknowledged(queues)
    if (epochs > 0) this.#open?.acknowledged(epochs)
  }

  #start(): void {
    this.#open = this.#base.open({ take: (frames) => this.#relayFrames(frames), reset: () => this.forget() })
  }

  #relayFrames(frames: readonly RtcmFrame[]): number {
    for (const { type, bytes } of frames) this.frame(type, bytes)
    const written = this.relay()
    if (written > 0) this.#witnesses.wrote(this.rovers)
    return written
  }
}
