/** Which page is open: the part of the address behind `#/`. */
import { signal } from '@preact/signals'

const pathNow = () => location.hash.replace(/^#\//, '').split('?')[0] || 'status'
export const path = signal(pathNow())
addEventListener('hashchange', () => {
  path.value = pathNow()
})
