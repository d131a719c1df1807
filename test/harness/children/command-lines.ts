/** Runs command lines one after the other in one process, as each would run in its own: JSON lists as argument, JSON results at descriptor 3. */
import { createWriteStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../../../runtime/platform/release.js'

const build = join(packageRoot(), 'build')
const bundled = join(build, 'checkout', 'runtime', 'main.js')
const entry = existsSync(bundled) ? bundled : join(build, 'runtime', 'tools', 'cli', 'main.js')
const { main } = (await import(pathToFileURL(entry).href)) as { main(args: string[]): Promise<void> }

// Each run listens for signals, and its process would end with it.
process.setMaxListeners(0)
const results = []
for (const args of JSON.parse(process.argv[2] ?? '[]') as string[][]) {
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = ((chunk: string | Uint8Array) => {
      output[name] += chunk.toString()
      return true
    }) as typeof process.stdout.write
  }
  await main(args)
  results.push({ code: process.exitCode, signal: null, ...output })
}
createWriteStream('', { fd: 3 }).end(JSON.stringify(results), () => process.exit(0))
