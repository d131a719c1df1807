/**
 * In place of systemd and the Debian package: starts a simulator through the launcher, from slots in its data folder, and
 * starts it again whenever it ends. Arguments: those of `rtk-base run`. The program in `FACTORY` is the slot `f`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { packageRoot } from '../../../runtime/platform/release.js'
import { writeSums } from '../../../runtime/tools/build/deb/slot.js'

const [, data = ''] = /^--data (.+)$/.exec(process.argv.slice(3, 5).join(' ')) ?? []
const root = join(data, 'slots')
const lib = join(root, 'lib')
const entry = JSON.stringify(process.env.FACTORY)

mkdirSync(join(lib, 'factory'), { recursive: true })
writeFileSync(
  join(lib, 'factory', 'rtk-base.mjs'),
  `process.argv[1] = ${entry}\nawait import('file://' + encodeURI(${entry}))\n`,
)
writeSums(join(lib, 'factory'))
// No systemd to notify.
writeFileSync(join(lib, 'notify-exec'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 })

const launcher = join(packageRoot(), 'runtime', 'tools', 'build', 'deb', 'files', 'launch')
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
while (!stop.signal.aborted) {
  const child = spawn('sh', [launcher, root, ...process.argv.slice(3)], {
    // The channel tells the service when this process has ended.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, RTK_BASE_LIB: lib, RTK_BASE_NODE: process.execPath },
  })
  const end = () => void child.kill('SIGTERM')
  stop.signal.addEventListener('abort', end)
  const [code] = await once(child, 'exit')
  stop.signal.removeEventListener('abort', end)
  if (code !== 0) await setTimeout(1_000, undefined, { signal: stop.signal }).catch(() => {})
}
