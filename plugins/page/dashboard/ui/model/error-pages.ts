/** The page on which an error, or another reason of the verdict, can be fixed. Pure. */

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
