/** Hours in which warnings wait. Pure. */

export interface QuietHours {
  /** Minutes of the day. */
  readonly from: number
  /** Minutes of the day, not included; before `from`: on the next day. */
  readonly to: number
}

const time = '([01]?\\d|2[0-3]):[0-5]\\d'
export const quietPattern = `^$|^${time}-${time}$`

function minutesOf(text: string): number {
  const [hours, minutes] = text.split(':')
  return Number(hours) * 60 + Number(minutes)
}

/** @param text `22:00-06:30` or `7:00-9:30`; anything else: none */
export function quietHoursOf(text: string): QuietHours | undefined {
  if (text === '' || !new RegExp(quietPattern).test(text)) return undefined
  const [from = '', to = ''] = text.split('-')
  return { from: minutesOf(from), to: minutesOf(to) }
}

export function isQuiet({ from, to }: QuietHours, minute: number): boolean {
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to
}

/** Whether this program knows the IANA name of a time zone; `''` is the zone of the machine. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', zone === '' ? {} : { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/** The time of day as `HH:MM`. @param zone IANA name; `''`: that of the machine */
export function clockTime(utc_ms: number, zone: string): string {
  const options = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  return new Intl.DateTimeFormat('en-GB', { ...options, ...(zone !== '' && { timeZone: zone }) }).format(utc_ms)
}

export const minuteOf = (utc_ms: number, zone: string): number => minutesOf(clockTime(utc_ms, zone))

/** `2026-11-21 02:13`. */
export function dayAndTime(utc_ms: number, zone: string): string {
  const options = { year: 'numeric', month: '2-digit', day: '2-digit', ...(zone !== '' && { timeZone: zone }) } as const
  return `${new Intl.DateTimeFormat('sv-SE', options).format(utc_ms)} ${clockTime(utc_ms, zone)}`
}
