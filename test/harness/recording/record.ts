/**
 * `npm run record -- --out DIR [CHAPTER…]`: writes what the running application answers to files, one for each chapter: the document in
 * all states, every change, command and route, the traffic of the broker, the RTCM of the captures. Two such folders, of a commit before a
 * redraw and of one behind it, are compared with `diff -r`; the digests that it prints are equal where nothing has changed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { childEnv } from '../process.js'
import { chapters } from './chapters.js'
import { agreed, digest, printed, type Section } from './text.js'

const { values, positionals } = parseArgs({
  options: { out: { type: 'string' }, once: { type: 'string' } },
  allowPositionals: true,
})

async function tellOnce(name: string, file: string): Promise<void> {
  const sections: Section[] = []
  await chapters[name]?.((title, lines) => sections.push({ title, lines }))
  writeFileSync(file, JSON.stringify(sections))
  // What a chapter has left open is not its matter.
  process.exit()
}

/** One run in a process of its own. */
async function run(name: string, file: string): Promise<Section[]> {
  const args = [fileURLToPath(import.meta.url), '--once', file, name]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env: childEnv() })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`the chapter ${name} ended with ${code}`)
  return JSON.parse(readFileSync(file, 'utf8')) as Section[]
}

async function record(out: string, names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !(name in chapters))
  if (unknown.length > 0)
    throw new Error(`no chapter ${unknown.join(', ')}; there are ${Object.keys(chapters).join(', ')}`)
  mkdirSync(out, { recursive: true })
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-record-'))
  try {
    for (const name of names) {
      const runs = await Promise.all(['1', '2'].map((nth) => run(name, join(folder, `${name}-${nth}`))))
      const text = printed(agreed(...(runs as [Section[], Section[]])))
      writeFileSync(join(out, `${name}.txt`), text)
      const lines = text.split('\n')
      const varied = lines.filter((line) => / = ~\??$/.test(line)).length
      console.log(`${name}: ${digest(text)}, ${lines.length} lines, ${varied} differ between two runs`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (values.once !== undefined) await tellOnce(positionals[0] ?? '', values.once)
else if (values.out !== undefined)
  await record(values.out, positionals.length > 0 ? positionals : Object.keys(chapters))
else {
  console.error('usage: npm run record -- --out DIR [CHAPTER…]')
  process.exitCode = 2
}
