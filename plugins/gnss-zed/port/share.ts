/** More work than this in a row, and the stream rests. */
const most_ms = 25
const rest_ms = 25

/**
 * Hands bytes on. Where their work takes more than half of the time, the stream rests in between, so that a flood leaves
 * time to everything else that the service does; what the system cannot keep until then is lost.
 */
export function sharing(
  stream: { pause(): unknown; resume(): unknown },
  data: (chunk: Buffer) => void,
): (chunk: Buffer) => void {
  let busy_ms = 0
  let ended_ms = performance.now()
  return (chunk) => {
    const began_ms = performance.now()
    data(chunk)
    const idle_ms = began_ms - ended_ms
    ended_ms = performance.now()
    busy_ms = Math.max(0, busy_ms - idle_ms) + ended_ms - began_ms
    if (busy_ms < most_ms) return
    stream.pause()
    setTimeout(() => stream.resume(), rest_ms).unref()
  }
}
