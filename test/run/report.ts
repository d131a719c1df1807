/** What a run prints: a line for each process, and of each failure what a person needs. */
import type { Failure, FileReport } from './file-report.js'

const levels: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }
/** Of a failure's details: what nobody reads. */
const unread = new Set(['tapCaught', 'compare', 'stack', 'at', 'source'])

/** A log line of a station as text; any other line as it is. */
function logText(line: string): string {
  if (!line.startsWith('{')) return line
  try {
    const { level, plugin, msg, err } = JSON.parse(line) as Record<string, unknown>
    const error = (err as { message?: string } | undefined)?.message
    return [levels[Number(level)] ?? level, plugin, msg, error && `(${error})`].filter(Boolean).join(' ')
  } catch {
    return line
  }
}

const indented = (text: string, by = '    ') =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => by + line)
    .join('\n')

/** The place in the sources; tap gives it as the first frame outside of itself. */
function placeOf({ at, stack }: Failure['details']): string {
  const { fileName, lineNumber } = (at ?? {}) as { fileName?: string; lineNumber?: number }
  if (fileName) return `${fileName.replace(/^file:\/\//, '')}:${lineNumber}`
  return typeof stack === 'string' ? (stack.split('\n')[0] ?? '') : ''
}

export function failureText(file: string, { name, details, log }: Failure): string {
  const rest = Object.entries(details).filter(([key]) => !unread.has(key))
  const lines = rest.map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
    return text.includes('\n') ? `${key}:\n${indented(text, '  ')}` : `${key}: ${text}`
  })
  const isThrown = details.tapCaught !== undefined && typeof details.stack === 'string'
  if (isThrown) lines.push(String(details.stack).trimEnd())
  const place = placeOf(details)
  return [
    `FAILED ${file}: ${name}${place ? ` (${place})` : ''}`,
    ...lines.map((line) => indented(line)),
    ...(log.length > 0 ? ['    the log before it:', ...log.map((line) => `      ${logText(line)}`)] : []),
    '',
  ].join('\n')
}

const sum = (reports: readonly FileReport[], field: 'passed' | 'failed' | 'skipped' | 'duration_ms' | 'cpu_ms') =>
  reports.reduce((total, report) => total + report[field], 0)

const seconds = (ms: number) => `${(ms / 1000).toFixed(1).padStart(6)} s`

export function groupLine(name: string, reports: readonly FileReport[]): string {
  const [passed, failed, skipped] = [sum(reports, 'passed'), sum(reports, 'failed'), sum(reports, 'skipped')]
  const files = reports.length === 1 ? '' : `${reports.length} files, `
  const counts = [`${passed} passed`, failed > 0 && `${failed} FAILED`, skipped > 0 && `${skipped} skipped`]
  return `${seconds(sum(reports, 'duration_ms'))}  ${name} (${files}${counts.filter(Boolean).join(', ')})`
}

/** The reasons of skipped tests, each once, with their number. */
export function skipLines(reports: readonly FileReport[]): string[] {
  const counts = new Map<string, number>()
  for (const skip of reports.flatMap(({ skips }) => skips)) {
    const reason = skip.slice(skip.lastIndexOf(': ') + 2)
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return [...counts].sort(([, one], [, other]) => other - one).map(([reason, count]) => `  ${count} skipped: ${reason}`)
}

/** As CI reads it. */
export function closingLine(reports: readonly FileReport[]): string {
  return `${sum(reports, 'passed')} passed, ${sum(reports, 'failed')} failed, ${sum(reports, 'skipped')} skipped`
}

export function slowest(reports: readonly FileReport[], count: number): string[] {
  return [...reports]
    .sort((one, other) => other.cpu_ms - one.cpu_ms)
    .slice(0, count)
    .map(({ file, cpu_ms, duration_ms }) => `${seconds(cpu_ms)} of processor, ${seconds(duration_ms)}  ${file}`)
}
