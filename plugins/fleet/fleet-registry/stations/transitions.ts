import type { FleetEvent, FleetStation } from 'rtk-base/services'

type Entry = Omit<FleetEvent, 't_s' | 'by'>

/** Entries of the record for the step from one state of a station to the next. Pure. @param before undefined: the station is new */
export function transitions(before: FleetStation | undefined, now: FleetStation): Entry[] {
  const { serial } = now
  const entries: Entry[] = []
  const note = (kind: string, text: string) => entries.push({ serial, kind, text })
  if (!before) note('new', `${serial} was heard for the first time`)
  if (now.online !== (before?.online ?? 'unknown')) note('online', now.online)
  if (now.verdict !== before?.verdict || now.cause !== before.cause) {
    const reason = now.cause === 'ok' ? '' : `: ${now.cause}`
    if (before || now.verdict !== 'unknown') note('verdict', `${now.verdict}${reason}`)
  }
  if (now.reference !== (before?.reference ?? '')) note('reference', placeText(now))
  if (now.version !== (before?.version ?? '')) note('version', now.version)
  if (before && now.name !== before.name) note('name', now.name)
  if (now.update.state !== (before?.update.state ?? '') && now.update.state !== '')
    note('update', now.update.failed ? `${now.update.state}, failed` : now.update.state)
  return entries
}

/** Where it announces to be: its identifier says nothing to people. */
function placeText({ place, reference }: FleetStation): string {
  if (!reference) return 'none'
  if (!place) return 'changed, its position is not known yet'
  const degrees = (value: number, [plus, minus]: string) => `${Math.abs(value).toFixed(7)}° ${value < 0 ? minus : plus}`
  return `${degrees(place.lat, 'NS')}, ${degrees(place.lon, 'EW')}, height ${place.alt.toFixed(3)} m`
}

/** Fields that change all the time: alone they are no reason to write or to tell. */
export function isSameStation(one: FleetStation, other: FleetStation): boolean {
  return textOf(one) === textOf(other)
}

const textOf = ({ seen_s: _seen, document_s: _document, ...rest }: FleetStation) => JSON.stringify(rest)
