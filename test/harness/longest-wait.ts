/**
 * The last resort of a test that hangs, in real time: no machine is so busy that this limit decides. Shorter where a test of a few
 * seconds has to fail within its own time: the mutations.
 */
export const longestWait_ms = Number(process.env.RTK_BASE_WAIT_MS ?? 600_000)
