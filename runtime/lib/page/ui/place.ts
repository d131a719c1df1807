/** Place behind the # of the address: `status`, `settings?find=ntrip`, `station/SN1`. Every state worth a link is in it. */
import { signal } from '@preact/signals'

export interface Place {
  readonly path: string
  readonly query: URLSearchParams
}

/** The place of now, which follows the address. @param first path of an address without one */
export function placeFrom(first: string) {
  const now = (): Place => {
    const [path = '', query = ''] = location.hash.replace(/^#\//, '').split('?')
    return { path: path || first, query: new URLSearchParams(query) }
  }
  const place = signal(now())
  addEventListener('hashchange', () => {
    place.value = now()
  })
  return place
}
