/** Run as a child: one part of the bench in one of its sizes. Arguments: the part, the size, the share of it. */
import { packageRoot } from '../../runtime/platform/release.js'
import { type PartMessage, shareOf, whole } from './part.js'
import { parts } from './parts.js'
import { NotComparable } from './tree.js'

/** The error, its cause and its place in the bench. */
function inOneLine(error: Error): string {
  const [frame = ''] = /\(?file:\S+\/build\/test\/\S+/.exec(error.stack ?? '') ?? []
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.message}${cause} ${frame}`.replace(/\s*\n\s*/g, ' | ')
}

const [name = '', size = 'full', share = ''] = process.argv.slice(2)
// The stations and clients that it started end with it: by their listeners for `exit`, which a signal alone passes over.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.once('disconnect', () => process.exit(1))

const part = await parts[name]?.load()
if (!part) throw new Error(`${packageRoot()} has no bench ${name}`)
const result = await part.run(part.sizes[size === 'smoke' ? 'smoke' : 'full'], shareOf(share) ?? whole).then(
  (measurements): PartMessage => ({ measurements }),
  (error: unknown): PartMessage => {
    return error instanceof NotComparable ? { notComparable: error.message } : { failed: inOneLine(error as Error) }
  },
)
await new Promise((resolve) => process.send?.(result, resolve))
process.exit(0)
