/** Where an error of the document can be mended. Pure. */

/** Code of an error → the page; the first that fits. */
const homes: readonly (readonly [RegExp, string])[] = [
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
]

/** Undefined where no page mends it. */
export const pageOf = (code: string): string | undefined => homes.find(([pattern]) => pattern.test(code))?.[1]
