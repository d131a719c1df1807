import { isAbsolute } from 'node:path'

/** Whether a variant's plugin key is a path rather than a name. */
export function isPath(source: string): boolean {
  return source.startsWith('.') || isAbsolute(source)
}
