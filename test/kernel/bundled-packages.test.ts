import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { build, stop } from 'esbuild'
import t from 'tap'
import { packageRoot } from '../../runtime/platform/release.js'
import { noKeptLengths } from '../../runtime/tools/build/bundle-runtime.js'
import { until } from '../harness/index.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Without the change of the package it is 8 MB. */
const mostPinned_bytes = 2e6

t.test('packets of ever new lengths leave no memory behind', async (t) => {
  const outfile = join(t.testdir(), 'mqtt-packet.cjs')
  const sources = { stdin: { contents: "module.exports = require('mqtt-packet')", resolveDir: packageRoot() } }
  await build({ ...sources, outfile, bundle: true, platform: 'node', format: 'cjs', plugins: [noKeptLengths] })
  await stop()
  const { generate } = createRequire(outfile)(outfile) as typeof import('mqtt-packet')
  const buffers = () => {
    collectGarbage()
    return process.memoryUsage().arrayBuffers
  }
  // The numbers that it makes at the first packet.
  generate({ cmd: 'pingreq' })
  const before = buffers()
  for (let length = 0; length < 1_000; length++) {
    const payload = Buffer.alloc(length)
    const packet = generate({ cmd: 'publish', topic: 't', payload, qos: 0, dup: false, retain: false })
    if (length === 300) t.same([...packet.subarray(0, 3)], [0x30, 0xaf, 0x02], 'the length is in it')
    // What else the station does: the next packet's buffers lie in another slab.
    for (let n = 0; n < 17; n++) Buffer.allocUnsafe(Math.floor(Buffer.poolSize / 17))
  }
  // V8 frees what it collected in threads of its own.
  await until(() => buffers() - before < mostPinned_bytes, 'what was written is collected')
  t.pass()
})

t.test('the program of a checkout has the package so', async (t) => {
  const folder = join(packageRoot(), 'build', 'checkout', 'runtime')
  const parts = readdirSync(folder).filter((name) => name.endsWith('.js'))
  const program = parts.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
  t.match(program, 'let buffer = varByteIntCache[num]')
  t.notMatch(program, /^ *(if \(num < 16384\) )?varByteIntCache\[num\] = buffer/m)
})
