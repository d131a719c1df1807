import { at, type Json } from '../../station/document.js'

/** Logins of rovers; nothing without the caster. */
export function RoverLogins({ document }: { document: Json }) {
  if (at(document, 'ntrip.caster') === undefined) return null
  return null
}
