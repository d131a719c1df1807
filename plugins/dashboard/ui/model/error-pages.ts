/** The page on which an error can be fixed. Pure. */

/** Code of an error → the page; the first that fits. */
const homes = [
  [/^gnss-survey/, 'survey'],
  [/^(antenna-|gnss-(signals|jammed|spoofed)$)/, 'sky'],
  [/^gnss-(moved|reference|initial)/, 'positions'],
  [/^gnss-/, 'procedure'],
  [/^(mqtt|ntrip|rtcm|recovery)/, 'links'],
  [/^(network|radio|wap|sta|eth|router|modem|mdns)/, 'network'],
  [/^update/, 'update'],
  [/^plugin/, 'plugins'],
  [/^change/, 'settings'],
  [/^log/, 'logs'],
] as const

/** Undefined without such a page. */
export const pageOf = (code: string): (typeof homes)[number][1] | undefined =>
  homes.find(([pattern]) => pattern.test(code))?.[1]
