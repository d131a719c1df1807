import { referenceDifference, sameEcef } from 'rtk-base/gnss'
import type { Ecef, Reception, RtcmFrame, RtcmGate, RtcmJudge } from 'rtk-base/services'

/** A receiver that announced another reference than the trusted one twice in this time has to keep to one for as long. */
const alternation_ms = 60_000
/** A judge that is reloaded has this long to come back before its last verdict ends: as long as a moved antenna may go unnoticed. */
const reload_ms = 4_000

interface Reference {
  arp: Ecef
  stationId?: number
  point?: 'arp' | 'phase-centre'
}

/** The basis of the gate. `receiver`: no verdict yet, the receiver's own mode counts. */
type Verdict = { kind: 'receiver' } | { kind: 'trusted'; reference: Reference } | { kind: 'held'; reason: string }

/** Condition for which the operator's settings hold RTCM back. */
export type Held = Reception['held'] | 'neighbours'
const heldReasons: Readonly<Record<Exclude<Held, ''>, string>> = {
  antenna: 'the antenna is short or open (option antennaHold)',
  spoofed: 'the receiver reports spoofing (option spoofedHold)',
  neighbours: 'neighbouring bases contradict the reference position (neighbours-effect is hold)',
}

const gone = { kind: 'held' as const, reason: 'no plugin verifies the reference' }

export interface GateDeps {
  /** The current receiver mode: `listening` is always trusted, `fixed` only without a verifying plugin. */
  mode(): 'listening' | 'fixed' | 'rover' | 'unknown'
  /** In every mode. */
  held(): Held
  /** Whether a plugin of this variant judges the reference, be it running yet or not. */
  isJudged(): boolean
  after(ms: number, fn: () => void): () => void | Promise<void>
  /** The gate opened, closed, or is closed for another reason; `reason` is '' when it opened. */
  changed(state: { open: boolean; wasOpen: boolean; reason: string }): void
}

/**
 * Nothing leaves unless the reference is trusted: silence is safe for a rover, a wrong datum is not. A frame that speaks
 * of another reference than the trusted one is dropped and closes the gate at once.
 */
export class Gate implements RtcmGate {
  readonly #deps: GateDeps
  #verdict: Verdict = { kind: 'receiver' }
  #judge: object | undefined
  #grace: (() => void | Promise<void>) | undefined
  /** Cached at the last change, for the hot path. */
  #open = false
  #reason = 'no receiver'
  /** The minute after a frame spoke of another reference; calling it off ends it. */
  #minute: ReturnType<GateDeps['after']> | undefined
  #flaps = ''
  constructor(deps: GateDeps) {
    this.#deps = deps
  }

  /** Reason of a held gate while the verifying plugin is reloaded too, otherwise undefined. For the next gate instance. */
  get heldReason(): string | undefined {
    return this.#grace && this.#verdict.kind === 'held' ? this.#verdict.reason : undefined
  }

  /** Keeps the previous instance's reason until the verifying plugin is back. */
  resume(heldReason: string): void {
    this.#awaitJudge()
    this.#decide({ kind: 'held', reason: heldReason })
  }

  /** Why it is closed, '' while it is open. */
  get reason(): string {
    return this.#reason
  }

  get open(): boolean {
    return this.#open
  }

  #reasonNow(): string {
    const held = this.#deps.held()
    if (held !== '') return heldReasons[held]
    const mode = this.#deps.mode()
    if (mode === 'listening') return ''
    if (this.#flaps !== '') return this.#flaps
    if (this.#verdict.kind === 'held') return this.#verdict.reason
    if (this.#verdict.kind === 'trusted') return ''
    // The receiver's flash proves nothing: the verifying plugin may still be starting.
    if (this.#deps.isJudged()) return 'the reference is not verified yet'
    if (mode === 'fixed') return ''
    return mode === 'unknown' ? 'no receiver' : 'the receiver holds no reference position'
  }

  /** Whether the frame may go out. A frame that speaks of another reference closes the gate. */
  admit(frame: RtcmFrame): boolean {
    if (!this.#open && this.#flaps === '') return false
    const difference = this.#difference(frame)
    if (difference) this.#announcedOther(difference)
    return this.#open
  }

  /** Once looks like a change of the reference. A receiver that alternates would open and close the gate forever. */
  #announcedOther(reason: string): void {
    if (this.#minute) {
      this.#flaps =
        'the receiver announces different reference positions in turn: no RTCM is sent until it keeps one for a minute'
      void this.#minute()
    }
    this.#minute = this.#deps.after(alternation_ms, () => {
      this.#minute = undefined
      this.#flaps = ''
      this.look()
    })
    this.#decide({ kind: 'held', reason })
  }

  /** Whether a frame received before the gate opened fits the trusted reference; unknown without a verdict. */
  fits(frame: RtcmFrame): boolean {
    return this.#open && this.#verdict.kind === 'trusted' && !this.#difference(frame)
  }

  /** Whether the announced position is that of the phase centre. */
  get isPhaseCentre(): boolean {
    return this.#verdict.kind === 'trusted' && this.#verdict.reference.point === 'phase-centre'
  }

  /** Whether observations must wait for the reference position: a receiver in listening mode may send none. */
  get announces(): boolean {
    return this.#deps.mode() !== 'listening'
  }

  #difference(frame: RtcmFrame): string | undefined {
    if (this.#verdict.kind !== 'trusted' || !this.announces) return undefined
    return referenceDifference(frame.bytes, this.#verdict.reference)
  }

  /** The receiver's mode, the verifying plugin or what is held back may have changed. */
  look(): void {
    const reason = this.#reasonNow()
    if (reason === this.#reason) return
    const wasOpen = this.#open
    this.#reason = reason
    this.#open = reason === ''
    this.#deps.changed({ open: this.#open, wasOpen, reason })
  }

  judge(): RtcmJudge {
    const me = {}
    void this.#grace?.()
    // A reloaded plugin keeps the verdict of its previous instance until it has its own.
    const cameBack = this.#judge === undefined && this.#grace !== undefined
    this.#grace = undefined
    this.#judge = me
    if (!cameBack) this.#decide({ kind: 'held', reason: 'the reference is not verified yet' })
    const mine = (then: () => void) => {
      if (this.#judge === me) then()
    }
    return {
      trust: (reference) => mine(() => this.#decide({ kind: 'trusted', reference })),
      hold: (reason) => mine(() => this.#decide({ kind: 'held', reason })),
      leave: (reason) => mine(() => this.#leave(reason)),
    }
  }

  #leave(reason: 'reload' | 'remove' | 'shutdown'): void {
    this.#judge = undefined
    if (reason === 'shutdown') {
      // Nothing goes out any more; a report that the gate closed would be noise.
      this.#verdict = gone
      this.#reason = gone.reason
      this.#open = false
      return
    }
    if (reason === 'remove') this.#decide(gone)
    else this.#awaitJudge()
  }

  #awaitJudge(): void {
    this.#grace = this.#deps.after(reload_ms, () => {
      this.#grace = undefined
      this.#decide(gone)
    })
  }

  #decide(verdict: Verdict): void {
    // The gate closes between two references: frames gathered under the first may not be sent under the second.
    if (this.#open && verdict.kind === 'trusted' && !this.#isSame(verdict.reference)) {
      this.#verdict = { kind: 'held', reason: 'the reference changes' }
      this.look()
    }
    this.#verdict = verdict
    this.look()
  }

  #isSame({ arp, stationId }: Reference): boolean {
    const verdict = this.#verdict
    if (verdict.kind !== 'trusted') return false
    return sameEcef(verdict.reference.arp, arp) && verdict.reference.stationId === stationId
  }
}
