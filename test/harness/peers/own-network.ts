import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { packageRoot } from '../../../runtime/platform/release.js'
import { childEnv } from '../process.js'
import { noPeer } from './peers.js'

/** For `skip` of a test in a network of its own: not even root may make one in every container. */
export const noNetwork: string | false =
  spawnSync('unshare', ['-n', 'true']).status === 0 ? false : 'network namespaces are not permitted here'

/** For `skip` of a test with a browser in a network of its own. */
export const noBrowser: string | false =
  noPeer('chromium') || (process.getuid?.() === 0 ? false : 'only root may make network namespaces')

/** Runs a program of `test/harness/children` in a network of its own, 192.168.77.1. @returns what it says, a JSON line at a time */
export async function* inOwnNetwork<T>(t: Test, name: string, args: readonly string[]): AsyncGenerator<T> {
  const child = join(packageRoot(), 'build', 'test', 'harness', 'children', `${name}.js`)
  const command = `ip link set lo up && ip addr add 192.168.77.1/24 dev lo && exec "$0" "$@"`
  const started = spawn('unshare', ['-n', 'sh', '-c', command, process.execPath, child, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: childEnv(),
  })
  let trouble = ''
  started.stderr.on('data', (chunk) => {
    trouble += chunk
  })
  const ended = once(started, 'close')
  for await (const line of createInterface(started.stdout)) if (line.startsWith('{')) yield JSON.parse(line) as T
  const [code] = await ended
  t.equal(code, 0, trouble)
}
