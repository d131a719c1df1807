import { badValue } from 'rtk-base/plugin'
import { timeForms, timeOf } from 'rtk-base/time'

const day_ms = 86_400_000

/** A time that a person asks about: also `02:13`, the last time that it was that late (UTC). @throws bad value */
export function momentOf(text: string, now_ms: number): number {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  if (hours !== undefined) {
    const at_ms = Math.floor(now_ms / day_ms) * day_ms + (Number(hours) * 60 + Number(minutes)) * 60_000
    return at_ms > now_ms ? at_ms - day_ms : at_ms
  }
  const at_ms = timeOf(text.replace(/(?<=\d\d:\d\d(:\d\d)?) (?=\d\d:?\d\d$)/, '+'))
  if (at_ms === undefined)
    throw badValue(
      `'${text.slice(0, 40)}' is not a time: ${timeForms}; or 02:13 for the latest occurrence of that time`,
    )
  return at_ms
}
