/** What a page can ask for with `/events?want=…`. */
export const topics = ['document', 'satellites', 'survey', 'log', 'panels'] as const
export type Topic = (typeof topics)[number]

/** Those of a query; every one when it names none. @returns undefined when one of them is not known */
export function topicsOf(want: unknown): ReadonlySet<Topic> | undefined {
  if (want === undefined || want === '') return new Set(topics)
  const names = String(want).split(',')
  return names.every((name): name is Topic => (topics as readonly string[]).includes(name)) ? new Set(names) : undefined
}
