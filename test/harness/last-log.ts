/** The last lines that the stations of this process logged: a test that fails prints them. */
const kept = 30
const lines: string[] = []

export function keepLine(line: string): void {
  lines.push(line.trimEnd())
  if (lines.length > kept) lines.shift()
}

export const lastLines = (): string[] => [...lines]

export function forgetLines(): void {
  lines.length = 0
}
