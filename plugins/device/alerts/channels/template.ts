/** Bodies of webhooks from templates. Pure. What is put in is never read as a template again. */
import type { Message } from './channel.js'

const placeholder = /\{\{\s*([\w-]*)\s*\}\}/g

/** Name of a placeholder → its value. */
export function valuesOf(message: Message): Readonly<Record<string, string>> {
  const { id, t_s, from, what, kind, severity, group, count, subject, text, names } = message
  return {
    ...{ id, from, what, kind, severity, group, subject, text, names },
    count: String(count),
    time: t_s === 0 ? '' : new Date(t_s * 1_000).toISOString(),
    // ntfy and others: 5 is the most urgent.
    priority: severity === 'critical' ? '5' : '3',
  }
}

const sample: Message = {
  ...{ id: 'id', t_s: 1, from: 'S', what: 'begin', kind: 'moved', severity: 'critical', group: '', count: 1 },
  ...{ subject: 'a "subject"', text: 'two\nlines', names: 'a, b' },
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** @param type in `json`, values are escaped for the inside of a string; in `text`, they are put in as they are */
export function filled(template: string, type: 'json' | 'text', message: Message): string {
  const values = valuesOf(message)
  return template.replace(placeholder, (_all, name: string) => {
    const value = values[name] ?? ''
    return type === 'json' ? inJson(value) : value
  })
}

/** @returns what is wrong with a template; undefined: nothing */
export function templateTrouble(template: string, type: 'json' | 'text'): string | undefined {
  const known = valuesOf(sample)
  for (const [, name = ''] of template.matchAll(placeholder))
    if (!Object.hasOwn(known, name))
      return `has an unknown placeholder {{${name}}}: known are ${Object.keys(known).join(', ')}`
  if (type === 'text') return undefined
  try {
    JSON.parse(filled(template, type, sample))
    return undefined
  } catch {
    return 'is not JSON: write "{{subject}}" with quotes, or set type to text'
  }
}
