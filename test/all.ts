/**
 * Every test file in a process of its own, several at a time. The runner of tap would do the same, but puts a module hook (for coverage
 * and mocks, neither of which is used here) into each process and each of their children, which doubles the processor time of the suite.
 */
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type SpawnOpts } from 'tap'

/** On the machine one of them takes two hours, or what RTK_BASE_SOAK_MIN says. */
const machine_min = Number(process.env.RTK_BASE_SOAK_MIN ?? 120) + 60
const timeout = process.env.RTK_BASE_TEST === 'machine' ? machine_min * 60_000 : 900_000
const withoutHooks = ['-u', 'NODE_OPTIONS', process.execPath, '--enable-source-maps']

t.setTimeout(0)
// Tests wait for processes and sockets, so that one more than cores keeps them busy; many more would make each of them late.
t.jobs = Math.min(4, availableParallelism() + 1)
const files = readdirSync('build/test', { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.test.js'),
)
/** What a file prints beside its results is shown only if it fails. */
const beside = mkdtempSync(join(tmpdir(), 'rtk-base-tests-'))
t.teardown(() => rmSync(beside, { recursive: true, force: true }))
for (const [n, file] of files.sort().entries()) {
  const name = `build/test/${file}`
  const path = join(beside, `${n}`)
  const stderr = openSync(path, 'w')
  const options: SpawnOpts = {
    name,
    timeout,
    buffered: true,
    stdio: ['ignore', 'pipe', stderr],
    env: { ...process.env, TAP_TIMEOUT: String(timeout / 1000) },
  }
  void t.spawn('/usr/bin/env', [...withoutHooks, name], options).then((failed) => {
    closeSync(stderr)
    if (failed) t.comment(`${name}: ${readFileSync(path, 'utf8').slice(-4_000)}`)
  })
}
