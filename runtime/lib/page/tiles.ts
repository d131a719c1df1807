/** The map under the drawing of the rovers: a template of addresses, and the one origin that the page may then load pictures from. Pure. */

const places = ['{z}', '{x}', '{y}'] as const
/** A plain host of a policy (CSP): no wildcard, no character of its syntax. */
const plainHost = /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/

/** The origin for `img-src`; `''` for a template that is empty or not usable. */
export function tileOrigin(template: string): string {
  // Placeholders are not valid in a host, where URL would keep them.
  const bare = places.reduce((text, place) => text.replaceAll(place, '0'), template)
  if (template === '' || !URL.canParse(bare)) return ''
  const { hostname, origin, password, protocol, username } = new URL(bare)
  const isPlain = /^https?:$/.test(protocol) && plainHost.test(hostname) && username + password === ''
  return isPlain && template.startsWith(`${origin}/`) ? origin : ''
}

/** Fault in the address of a map server; undefined: none. */
export function tilesFault(template: string): string | undefined {
  if (template === '') return undefined
  if (!template.startsWith('https://')) return 'the address of map tiles begins with https://'
  if (tileOrigin(template) === '')
    return 'the address of map tiles is one server, a / and the rest, without * and without a login'
  const missing = places.filter((place) => !template.includes(place))
  if (missing.length > 0) return `the address of map tiles needs ${missing.join(', ')}`
  const rest = places.reduce((text, place) => text.replaceAll(place, ''), template)
  return /[{}]/.test(rest) ? 'the address of map tiles has no other parts in braces than {z}, {x} and {y}' : undefined
}
