import { placeFrom } from '../../../../runtime/lib/page/ui/place.js'

export const place = placeFrom('overview')

/** The serial number in an address `station/SERIAL`; `''` for any other. */
export function serialHere(): string {
  const [, serial = ''] = /^station\/(.+)$/.exec(place.value.path) ?? []
  try {
    return decodeURIComponent(serial)
  } catch {
    return serial
  }
}
