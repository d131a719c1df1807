import { type ReferenceDifference, referenceDifference, sameEcef } from 'rtk-base/gnss'
import type { Ecef, ErrorValues, GateReason, Reception, RtcmFrame, RtcmGate, RtcmJudge } from 'rtk-base/services'

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
type Verdict = { kind: 'receiver' } | { kind: 'trusted'; reference: Reference } | { kind: 'held'; reason: GateReason }

/** Condition for which the operator's settings hold RTCM back. */
export type Held = Reception['held'] | 'neighbours'

/** Reasons of the gate itself. */
type Code =
  | 'held-antenna'
  | 'held-spoofed'
  | 'held-neighbours'
  | 'no-judge'
  | 'no-receiver'
  | 'no-reference'
  | 'not-verified'
  | 'other-reference'
  | 'positions-in-turn'
  | 'reference-changes'

export interface GateDeps {
  /** The current receiver mode: `listening` is always trusted, `fixed` only without a verifying plugin. */
  mode(): 'listening' | 'fixed' | 'rover' | 'unknown'
  /** In every mode. */
  held(): Held
  /** Whether a plugin of this variant judges the reference, be it running yet or not. */
  isJudged(): boolean
  after(ms: number, fn: () => void): () => void | Promise<void>
  /** `ctx.text` */
  text(key: string, values?: ErrorValues): string
  /** The gate opened, closed, or is closed for another reason. */
  changed(state: { open: boolean; wasOpen: boolean; reason: GateReason | undefined }): void
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
  #reason: GateReason | undefined
  /** The minute after a frame spoke of another reference; calling it off ends it. */
  #minute: ReturnType<GateDeps['after']> | undefined
  #isAlternating = false
  constructor(deps: GateDeps) {
    this.#deps = deps
    this.#reason = this.#because('no-receiver')
  }

  /** Reason of a held gate while the verifying plugin is reloaded too, otherwise undefined. For the next gate instance. */
  get heldReason(): GateReason | undefined {
    return this.#grace && this.#verdict.kind === 'held' ? this.#verdict.reason : undefined
  }

  /** Keeps the previous instance's reason until the verifying plugin is back. */
  resume(heldReason: GateReason): void {
    this.#awaitJudge()
    this.#hold(heldReason)
  }

  /** Why it is closed; undefined while it is open. */
  get reason(): GateReason | undefined {
    return this.#reason
  }

  get open(): boolean {
    return this.#open
  }

  #because(code: Code, values?: ErrorValues): GateReason {
    return { code, values, text: this.#deps.text(`gate.${code}`, values) }
  }

  #reasonNow(): GateReason | undefined {
    const held = this.#deps.held()
    if (held !== '') return this.#because(`held-${held}`)
    const mode = this.#deps.mode()
    if (mode === 'listening') return undefined
    if (this.#isAlternating) return this.#because('positions-in-turn')
    if (this.#verdict.kind === 'held') return this.#verdict.reason
    if (this.#verdict.kind === 'trusted') return undefined
    // The receiver's flash proves nothing: the verifying plugin may still be starting.
    if (this.#deps.isJudged()) return this.#because('not-verified')
    if (mode === 'fixed') return undefined
    return this.#because(mode === 'unknown' ? 'no-receiver' : 'no-reference')
  }

  /** Whether the frame may go out. A frame that speaks of another reference closes the gate. */
  admit(frame: RtcmFrame): boolean {
    if (!this.#open && !this.#isAlternating) return false
    const difference = this.#difference(frame)
    if (difference) this.#announcedOther(difference)
    return this.#open
  }

  /** Once looks like a change of the reference. A receiver that alternates would open and close the gate forever. */
  #announcedOther({ kind, values }: ReferenceDifference): void {
    if (this.#minute) {
      this.#isAlternating = true
      void this.#minute()
    }
    this.#minute = this.#deps.after(alternation_ms, () => {
      this.#minute = undefined
      this.#isAlternating = false
      this.update()
    })
    this.#hold(this.#because('other-reference', { difference: kind, ...values }))
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

  #difference(frame: RtcmFrame): ReferenceDifference | undefined {
    if (this.#verdict.kind !== 'trusted' || !this.announces) return undefined
    return referenceDifference(frame.bytes, this.#verdict.reference)
  }

  /** The receiver's mode, the verifying plugin or what is held back may have changed. */
  update(): void {
    const reason = this.#reasonNow()
    if (reason?.text === this.#reason?.text) return
    const wasOpen = this.#open
    this.#reason = reason
    this.#open = reason === undefined
    this.#deps.changed({ open: this.#open, wasOpen, reason })
  }

  judge(): RtcmJudge {
    const me = {}
    void this.#grace?.()
    // A reloaded plugin keeps the verdict of its previous instance until it has its own.
    const cameBack = this.#judge === undefined && this.#grace !== undefined
    this.#grace = undefined
    this.#judge = me
    if (!cameBack) this.#hold(this.#because('not-verified'))
    const mine = (then: () => void) => {
      if (this.#judge === me) then()
    }
    return {
      trust: (reference) => mine(() => this.#decide({ kind: 'trusted', reference })),
      hold: (reason) => mine(() => this.#hold(reason)),
      leave: (reason) => mine(() => this.#leave(reason)),
    }
  }

  #leave(reason: 'reload' | 'remove' | 'shutdown'): void {
    this.#judge = undefined
    if (reason === 'shutdown') {
      // Nothing goes out any more; a report that the gate closed would be noise.
      this.#reason = this.#because('no-judge')
      this.#verdict = { kind: 'held', reason: this.#reason }
      this.#open = false
      return
    }
    if (reason === 'remove') this.#hold(this.#because('no-judge'))
    else this.#awaitJudge()
  }

  #awaitJudge(): void {
    this.#grace = this.#deps.after(reload_ms, () => {
      this.#grace = undefined
      this.#hold(this.#because('no-judge'))
    })
  }

  #hold(reason: GateReason): void {
    this.#decide({ kind: 'held', reason })
  }

  #decide(verdict: Verdict): void {
    // The gate closes between two references: frames gathered under the first may not be sent under the second.
    if (this.#open && verdict.kind === 'trusted' && !this.#isSame(verdict.reference)) {
      this.#verdict = { kind: 'held', reason: this.#because('reference-changes') }
      this.update()
    }
    this.#verdict = verdict
    this.update()
  }

  #isSame({ arp, stationId }: Reference): boolean {
    const verdict = this.#verdict
    if (verdict.kind !== 'trusted') return false
    return sameEcef(verdict.reference.arp, arp) && verdict.reference.stationId === stationId
  }
}
