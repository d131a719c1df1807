/** The page on which an error, or another reason of the verdict, can be fixed. Pure. */
import type { Values } from '../../../../../runtime/lib/page/ui/station/document.js'

/** Code of an error or of a reason → the page; the first that fits. */
const homes = [
  [/^gnss-survey/, 'survey'],
  [/^(incomplete|coarse)$/, 'survey'],
  [/^(antenna-|gnss-(signals|jammed|spoofed)$|(spoofing|jamming|slips|satellites)$)/, 'sky'],
  [/^(gnss-(moved|reference|initial)|override|neighbours-)/, 'positions'],
  [/^gnss-/, 'procedure'],
  [/^(mqtt|ntrip|rtcm|recovery|(link|output)$)/, 'links'],
  [/^(network|radio|wap|sta|eth|router|modem|mdns)/, 'network'],
  [/^(update|updating$)/, 'update'],
  [/^plugin/, 'plugins'],
  [/^change/, 'settings'],
  [/^log/, 'logs'],
] as const

/** Undefined without such a page. */
export const pageOf = (code: string): (typeof homes)[number][1] | undefined =>
  homes.find(([pattern]) => pattern.test(code))?.[1]

/** The parameter that an error names as its remedy. An option of a plugin has a dot in its name, and no field on the page. */
export const settingIn = (values: Values | undefined): string | undefined => {
  const { setting } = values ?? {}
  return typeof setting === 'string' && /^[a-z][a-z0-9-]*$/.test(setting) ? setting : undefined
}
