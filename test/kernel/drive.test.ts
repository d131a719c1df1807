/** Simulated time stands still while anything of this machine works, and passes while it only waits. */
import { spawn } from 'node:child_process'
import { scrypt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { gzip } from 'node:zlib'
import t from 'tap'
import { drive, during, pass, settled } from '../harness/drive.js'
import { ManualClock } from '../harness/manual-clock.js'

/** Keeps a processor busy for a while. */
const busy = 'for (const end_ms = Date.now() + 200; Date.now() < end_ms; );'

const works: Record<string, (done: () => void) => void> = {
  'the thread pool': (done) => scrypt('password', 'salt', 64, { N: 2 ** 15, maxmem: 2 ** 26 }, done),
  compression: (done) => gzip(Buffer.alloc(20_000_000, 'some text'), done),
  'a thread': (done) => {
    const thread = new Worker(`${busy} require('node:worker_threads').parentPort.postMessage(0)`, { eval: true })
    thread.once('message', done)
  },
  'a child process': (done) => {
    spawn(process.execPath, ['-e', busy], { stdio: 'ignore' }).once('exit', done)
  },
}

for (const [what, start] of Object.entries(works)) {
  t.test(`the clock stands while ${what} works`, async (t) => {
    const clock = new ManualClock()
    let isDone = false
    start(() => {
      isDone = true
    })
    t.equal(await drive(clock, () => isDone, what), 0)
  })
}

t.test('the clock stands while a computation lets others run in between, however many wait for that', async (t) => {
  const clock = new ManualClock()
  let slices = 0
  const compute = async () => {
    for (; slices < 500; slices++) await new Promise((resolve) => setImmediate(resolve))
  }
  void compute()
  const others = [settled(), settled()]
  t.equal(await drive(clock, () => slices === 500, 'computed'), 0)
  await Promise.all(others)
})

t.test('the clock stands until a chain of file calls ends', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-drive-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  let isDone = false
  const write = async () => {
    for (let n = 0; n < 20; n++) {
      const file = await open(join(folder, `${n}`), 'w')
      await file.write(Buffer.alloc(100_000))
      await file.sync()
      await file.close()
    }
    isDone = true
  }
  const written = write()
  await settled()
  t.ok(isDone)
  await written
})

t.test('the clock stands while a server of this process answers, and advances while one keeps silent', async (t) => {
  const clock = new ManualClock()
  const server = createServer((request, response) => {
    if (request.url === '/silent') return
    // In many turns of the event loop, through the thread pool.
    scrypt('password', 'salt', 64, () => response.end(Buffer.alloc(1_000_000)))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const answer = fetch(`${url}/`).then((response) => response.arrayBuffer())
  let bytes = 0
  void answer.then(({ byteLength }) => {
    bytes = byteLength
  })
  t.equal(await drive(clock, () => bytes > 0, 'the answer'), 0)
  t.equal(bytes, 1_000_000)

  const request = get(`${url}/silent`).on('error', () => {})
  clock.timer(30_000, () => request.destroy())
  t.equal(await drive(clock, () => request.destroyed, 'the limit'), 30_000)
})

t.test('a child that is stopped, or sleeps, does not work', async (t) => {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  const clock = new ManualClock()
  await pass(clock, 5_000, 2_000)
  t.equal(clock.monotonic(), 5_000)
  child.kill('SIGSTOP')
  await pass(clock, 5_000)
  t.equal(clock.monotonic(), 10_000)
})

t.test('a promise that needs time gets it, and its result or error is returned', async (t) => {
  const clock = new ManualClock()
  const after = (ms: number) => new Promise<number>((resolve) => clock.timer(ms, () => resolve(ms)))
  t.equal(await during(clock, after(7_000), 'seven seconds'), 7_000)
  t.equal(clock.monotonic(), 7_000)
  const late = after(500).then(() => Promise.reject(new Error('refused')))
  await t.rejects(during(clock, late, 'a refusal', 100), /refused/)
  t.equal(clock.monotonic(), 7_500)
})

t.test('what never comes is reported in time of the clock, with what was seen last', async (t) => {
  const clock = new ManualClock()
  let seen = 0
  const never = drive(
    clock,
    () => ++seen < 0,
    () => `seen ${seen} times`,
    10,
  )
  await t.rejects(never, { message: 'seen 5001 times: not within 50.01 s of the clock' })
})
