/**
 * What `work` resolves with, or `otherwise` after `limit_ms` of real time: the process may be about to end, and sockets do not
 * follow a test's clock.
 */
export async function within<T>(limit_ms: number, work: Promise<T>, otherwise: T): Promise<T> {
  let limit: NodeJS.Timeout | undefined
  const late = new Promise<T>((resolve) => {
    limit = setTimeout(() => resolve(otherwise), limit_ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(limit)
  }
}
