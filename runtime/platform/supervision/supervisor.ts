/**
 * The supervisor that started and watches the service, e.g. systemd by its notify socket. No call may throw or block.
 */
export interface Supervisor {
  /** The service is up: every plugin has started or has reported why it did not. */
  ready(): void
  /** Reports that the event loop is turning. Called at most once a second. */
  alive(): void
  /** Current activity in one line; only when it changes. */
  status(text: string): void
  /** The start is under way, and may take this much longer from now. */
  extendStart(ms: number): void
  /** The service begins to stop. */
  stopping(): void
}

const alive_ms = 1_000

/** Reports `alive` from a beat that comes more often. Returns the undo. */
export function reportAlive(
  supervisor: Supervisor,
  onBeat: (fn: () => void) => () => void,
  monotonic: () => number,
): () => void {
  let last_ms = Number.NEGATIVE_INFINITY
  return onBeat(() => {
    const now_ms = monotonic()
    if (now_ms - last_ms < alive_ms) return
    last_ms = now_ms
    supervisor.alive()
  })
}
