/**
 * Every test file in a process of its own, several at a time. The runner of tap would do the same, but puts a module hook (for coverage
 * and mocks, neither of which is used here) into each process and each of their children, which doubles the processor time of the suite.
 */
import { readdirSync } from 'node:fs'
import t from 'tap'

/** On the machine one of them takes two hours, or what RTK_BASE_SOAK_MIN says. */
const machine_min = Number(process.env.RTK_BASE_SOAK_MIN ?? 120) + 60
const timeout = process.env.RTK_BASE_TEST === 'machine' ? machine_min * 60_000 : 900_000
const withoutHooks = ['-u', 'NODE_OPTIONS', process.execPath, '--enable-source-maps']

t.setTimeout(0)
// Two idle cores are busy with four, as tests wait for processes and sockets.
t.jobs = 4
const files = readdirSync('build/test', { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.test.js'),
)
for (const file of files.sort()) {
  const name = `build/test/${file}`
  const options = {
    name,
    timeout,
    buffered: true,
    stdio: 'pipe',
    env: { ...process.env, TAP_TIMEOUT: String(timeout / 1000) },
  } as const
  t.spawn('/usr/bin/env', [...withoutHooks, name], options)
}
