/** The newest moment of a time of day on the reader's clock, as ISO 8601 in UTC; undefined for what is no time. Pure. */
export function lastTime(clock: string, now_ms: number): string | undefined {
  const found = /^([01]\d|2[0-3]):([0-5]\d)/.exec(clock)
  if (!found) return undefined
  const moment = new Date(now_ms)
  moment.setHours(Number(found[1]), Number(found[2]), 0, 0)
  if (moment.getTime() > now_ms) moment.setDate(moment.getDate() - 1)
  return `${moment.toISOString().slice(0, 16)}Z`
}
