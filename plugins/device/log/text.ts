import type { LogLine } from 'rtk-base/services'

const names: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
}

/** Fields of a line that are shown in another way, or by its text. */
const known = new Set(['level', 'time', 'plugin', 'msg', 'err', 'how', 'stack'])

/** `2026-11-22T08:00:01.123Z WARN  gnss-zed: text (field=value)`, a stack below it. */
export function textOf(line: LogLine): string {
  const { level, time, plugin, msg = '', err } = line
  const at = time > 0 && time < 8.64e15 ? new Date(time).toISOString() : '-'
  const stack = (err as { stack?: unknown } | undefined)?.stack
  const below = typeof stack === 'string' && level >= 50 ? `\n    ${stack.split('\n').join('\n    ')}` : ''
  const fields = Object.entries(line)
    .filter(([name]) => !known.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
  const more = fields.length > 0 ? ` (${fields.join(' ')})` : ''
  return `${at} ${(names[level] ?? String(level)).padEnd(5)} ${plugin ? `${plugin}: ` : ''}${msg}${more}${below}`
}

/** A damaged or edited line is shown unchanged. */
export function parsed(json: string): LogLine {
  try {
    const line = JSON.parse(json) as LogLine
    if (typeof line === 'object' && line !== null && typeof line.level === 'number') return line
  } catch {}
  return { level: 40, time: 0, msg: json }
}
