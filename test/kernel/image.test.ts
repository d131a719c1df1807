/** The signed image: what was signed comes out whole, and nothing else comes out at all. */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sample } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { generateKeys, keyId, readPrivateKey, readPublicKey } from '../../runtime/lib/image/keys.js'
import { type ImageManifest, largestManifest } from '../../runtime/lib/image/manifest.js'
import { packImage } from '../../runtime/lib/image/pack.js'
import { type UnpackOptions, unpackImage } from '../../runtime/lib/image/unpack.js'
import { ustarHeader } from '../../runtime/platform/files/ustar.js'

const pair = generateKeys()
const privateKey = readPrivateKey(pair.privatePem)
const publicKey = readPublicKey(pair.publicPem)
const keys = new Map([[pair.id, publicKey]])
const facts = { type: 'bundle' as const, name: 'roof', version: '1.2.3', hardware: ['zed-f9p'], arch: 'any' }

function scratch(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-image-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Files of every size that matters to blocks, and a path that needs the prefix of its header. */
const content: Readonly<Record<string, Buffer>> = {
  'empty.txt': Buffer.alloc(0),
  'block.bin': Buffer.alloc(512, 7),
  'rtk-base.mjs': Buffer.from('console.log(1)\n'.repeat(100)),
  [`${'deep/'.repeat(25)}file.bin`]: Buffer.alloc(513, 1),
}

async function makeImage(t: Test): Promise<Buffer> {
  const folder = scratch(t)
  for (const [path, bytes] of Object.entries(content)) {
    mkdirSync(dirname(join(folder, 'in', path)), { recursive: true })
    writeFileSync(join(folder, 'in', path), bytes)
  }
  await packImage(join(folder, 'in'), facts, privateKey, join(folder, 'image'))
  return readFileSync(join(folder, 'image'))
}

/** An image by hand: what no packer makes. */
function handmade({
  entries,
  manifest = {},
  payload = gzipSync(
    Buffer.concat([...entries.map(({ header, bytes }) => Buffer.concat([header, padded(bytes)])), Buffer.alloc(1024)]),
  ),
  key = privateKey,
}: {
  entries: { path: string; bytes: Buffer; header: Buffer }[]
  manifest?: object
  payload?: Buffer
  key?: KeyObject
}): Buffer {
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  const files = entries.map(({ path, bytes }) => ({ path, size: bytes.length, sha256: digest(bytes) }))
  const whole = {
    format: 1,
    ...facts,
    key: keyId(key),
    payload: { size: payload.length, sha256: digest(payload) },
    files,
  }
  return Buffer.concat([headOf({ ...whole, ...manifest }, key), payload])
}

function headOf(manifest: object, key = privateKey): Buffer {
  const line = Buffer.from(JSON.stringify(manifest))
  return Buffer.concat([line, Buffer.from(`\n${sign(null, line, key).toString('base64')}\n`)])
}

const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
const entry = (path: string, text = 'x', header = ustarHeader(path, text.length)) => ({
  path,
  bytes: Buffer.from(text),
  header,
})

async function* inPieces(bytes: Buffer, size = 65_536) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Unpacks into a folder of its own. */
async function unpack(t: Test, source: AsyncIterable<Uint8Array> | Buffer, options: Partial<UnpackOptions> = {}) {
  const folder = join(scratch(t), 'out')
  let accepted: ImageManifest | undefined
  const outcome = await unpackImage(Buffer.isBuffer(source) ? inPieces(source) : source, {
    keys,
    largest_bytes: 1_000_000,
    accept: async (manifest) => {
      accepted = manifest
      mkdirSync(folder)
      return folder
    },
    ...options,
  }).then(
    () => 'whole',
    (error: { code?: string; message: string }) => {
      if (!error.code?.startsWith('RTK_ERR_')) throw error
      return `${error.code}: ${error.message}`
    },
  )
  const files = accepted
    ? readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    : []
  return {
    outcome,
    accepted,
    folder,
    files: files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)),
  }
}

t.test('an image holds what was packed, and the same folder gives the same payload', async (t) => {
  const image = await makeImage(t)
  const { outcome, accepted, folder, files } = await unpack(t, image)
  t.equal(outcome, 'whole')
  t.strictSame(new Set(files), new Set(Object.keys(content)))
  for (const [path, bytes] of Object.entries(content)) t.ok(readFileSync(join(folder, path)).equals(bytes), path)
  t.match(accepted, { ...facts, key: pair.id })
  t.strictSame((await unpack(t, await makeImage(t))).accepted?.payload, accepted?.payload)
  t.equal((await unpack(t, inPieces(image, 1))).outcome, 'whole', 'byte by byte')
})

t.test('a bit that was flipped anywhere is refused, and so is every truncation and every byte more', async (t) => {
  const image = await makeImage(t)
  const every = Math.max(1, Math.floor((image.length * 8) / sample(300, image.length * 8)))
  let flips = 0
  for (let bit = 0; bit < image.length * 8; bit += every) {
    const changed = Buffer.from(image)
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
    const { outcome } = await unpack(t, changed)
    if (outcome === 'whole') t.fail(`bit ${bit}`)
    flips++
  }
  const step = Math.max(1, Math.floor(image.length / sample(100, image.length)))
  for (let length = 0; length < image.length; length += step) {
    const { outcome } = await unpack(t, image.subarray(0, length))
    if (outcome === 'whole') t.fail(`${length} of ${image.length} bytes`)
  }
  for (const more of [0, 10, 255])
    t.not((await unpack(t, Buffer.concat([image, Buffer.from([more])]))).outcome, 'whole')
  t.ok(flips >= 300)
})

t.test('who signed it decides before anything is read', async (t) => {
  const image = await makeImage(t)
  const other = generateKeys()
  const others = new Map([[other.id, readPublicKey(other.publicPem)]])
  const foreign = await unpack(t, image, { keys: others })
  t.match(foreign, { outcome: /not signed by a key that this device trusts/, accepted: undefined })
  t.match(await unpack(t, image, { keys: new Map() }), { outcome: /trusts no key: set ota.keys/, accepted: undefined })
  t.equal((await unpack(t, image, { keys: new Map([...others, ...keys]) })).outcome, 'whole')

  t.test(
    'the signature has one spelling: base64 with other spare bits, in other letters or with blanks is refused',
    async (t) => {
      const end = image.indexOf(10)
      const signature = image.toString('latin1', end + 1, end + 89)
      const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
      const spare = digits[digits.indexOf(signature[85] as string) + 1] as string
      for (const spelled of [
        `${signature.slice(0, 85)}${spare}==`,
        signature.slice(0, 86),
        `${signature} `,
        ` ${signature}`,
        `${signature}\r`,
      ]) {
        t.equal(
          Buffer.from(spelled, 'base64').toString('hex').slice(0, 126),
          Buffer.from(signature, 'base64').toString('hex').slice(0, 126),
        )
        const changed = Buffer.concat([image.subarray(0, end + 1), Buffer.from(spelled), image.subarray(end + 89)])
        t.match((await unpack(t, changed)).outcome, /second line is not a signature/)
      }
    },
  )

  t.test('a key is named by the first 16 digits of the SHA-256 of its public part', async (t) => {
    // The first key of RFC 8032, 7.1.
    const spki = Buffer.from(
      '302a300506032b6570032100d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      'hex',
    )
    t.equal(keyId(createPublicKey({ key: spki, format: 'der', type: 'spki' })), '06e3fd8fda29bb60')
    t.equal(keyId(privateKey), keyId(createPublicKey(privateKey)))
    const made = generateKeys()
    t.same([keyId(readPrivateKey(made.privatePem)), keyId(readPublicKey(made.publicPem))], [made.id, made.id])
  })

  t.test('other algorithms are no keys', async (t) => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    t.throws(() => readPublicKey(rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()), {
      code: 'RTK_ERR_USAGE',
      message: /rsa: images are signed with Ed25519/,
    })
    t.throws(() => readPrivateKey('nothing'), { code: 'RTK_ERR_USAGE' })
  })
})

t.test('signed, but not what an image may be', async (t) => {
  const refused = async (image: Buffer, reason: RegExp) => t.match((await unpack(t, image)).outcome, reason)
  for (const path of [
    '../climbs',
    '/etc/passwd',
    'a/../../b',
    './a',
    'a//b',
    'a/',
    '',
    'umlaut-ä',
    'a b',
    'a\\b',
    'a\nb',
  ]) {
    await refused(handmade({ entries: [{ ...entry('harmless'), path }] }), /RTK_ERR_IMAGE: .*(is not allowed|manifest)/)
  }
  await refused(handmade({ entries: [entry('a'), entry('a')] }), /it contains a twice/)
  await refused(handmade({ entries: [entry('harmless', 'x', ustarHeader('../climbs', 1))] }), /harmless is not where/)
  await refused(handmade({ entries: [entry('a'), entry('b')], manifest: { files: [] } }), /manifest/)
  const [a, b] = [entry('a', 'one'), entry('b', 'two')]
  const swapped = gzipSync(
    Buffer.concat([...[b, a].map(({ header, bytes }) => Buffer.concat([header, padded(bytes)])), Buffer.alloc(1024)]),
  )
  await refused(handmade({ entries: [a, b], payload: swapped }), /a is not where its manifest has it/)
  const typed = (type: string) => {
    const header = ustarHeader('a', 1)
    header.write(type, 156, 'latin1')
    const sum = header.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
    return header
  }
  for (const type of ['1', '2', '3', '5', 'x', 'g', 'L', '\0']) {
    await refused(handmade({ entries: [entry('a', 'x', typed(type))] }), /something else than files/)
  }
  const longer = gzipSync(Buffer.concat([a.header, padded(a.bytes), b.header, padded(b.bytes), Buffer.alloc(1024)]))
  await refused(handmade({ entries: [a], payload: longer }), /continues after its files/)
  await refused(handmade({ entries: [a], payload: gzipSync(a.header) }), /ends in the middle/)
  await refused(handmade({ entries: [a], payload: Buffer.from('no gzip at all') }), /payload cannot be unpacked/)
  const wrongContent = gzipSync(Buffer.concat([a.header, padded(Buffer.from('two')), Buffer.alloc(1024)]))
  await refused(handmade({ entries: [a], payload: wrongContent }), /a is not the file that was signed/)
  for (const manifest of [
    { format: 2 },
    { arch: 'linux-mips' },
    { version: 'new' },
    { hardware: [] },
    { surprise: 1 },
    { minVersion: 'x' },
  ]) {
    await refused(handmade({ entries: [a], manifest }), /RTK_ERR_IMAGE: .*manifest/)
  }
  await refused(
    Buffer.from(`no json\n${sign(null, Buffer.from('no json'), privateKey).toString('base64')}\n`),
    /is not JSON/,
  )
})

t.test('a manifest at its limits, and just beyond them', async (t) => {
  const list = (length: number, of: (n: number) => unknown) => Array.from({ length }, (_, n) => of(n))
  const text = (length: number) => 'x'.repeat(length)
  for (const [field, least, most, of] of [
    ['hardware', 1, 32, (n) => list(n, String)],
    ['hardware', 1, 64, (n) => [text(n)]],
    ['replaces', 1, 32, (n) => list(n, (one) => `v${one}`)],
    ['name', 1, 64, text],
    ['version', 7, 64, (n) => `1.2.3-${text(n - 6)}`],
    ['minVersion', 7, 64, (n) => `1.2.3-${text(n - 6)}`],
    ['newKeys', 0, 4, (n) => list(n, String)],
    ['newKeys', 0, 256, (n) => [text(n)]],
  ] as [string, number, number, (n: number) => unknown][]) {
    for (const [n, fits] of [
      [least - 1, false],
      [least, true],
      [most, true],
      [most + 1, false],
    ] as const) {
      if (n < 0) continue
      const { outcome } = await unpack(t, handmade({ entries: [entry('a')], manifest: { [field]: of(n) } }))
      t.match(outcome, fits ? /^whole$/ : new RegExp(`RTK_ERR_IMAGE: .*manifest /${field}`), `${field} ${n}`)
    }
  }
})

t.test('a path has 100 bytes of name and 155 before that, cut at a slash', async (t) => {
  const fields = (path: string) => {
    const header = ustarHeader(path, 1)
    const field = (from: number, length: number) => header.toString('latin1', from, from + length).replace(/\0.*/s, '')
    return [field(0, 100), field(345, 155)]
  }
  const [name, folder] = ['n'.repeat(100), 'f'.repeat(155)]
  t.same(fields(name), [name, ''])
  t.same(fields(`${folder}/${name}`), [name, folder])
  t.same(fields(`a/${'b'.repeat(99)}`), ['b'.repeat(99), 'a'])
  const rights = ustarHeader('a', 1).toString('latin1', 100, 124)
  t.equal(rights, '0000644\x000000000\x000000000\x00', 'for all to read, of nobody')
  for (const path of [`${name}n`, `${folder}f/${name}`, `${folder}/${name}n`, `${folder}f/n`])
    t.throws(() => ustarHeader(path, 1), /is too long/)
})

t.test('the limits hold before memory or disk is used', async (t) => {
  t.test('a payload that is announced as too large is refused by its first line', async (t) => {
    let read = 0
    async function* endless() {
      yield handmade({ entries: [entry('a')], manifest: { payload: { size: 10_000_000_000, sha256: '0'.repeat(64) } } })
      for (;;) {
        read++
        yield Buffer.alloc(65_536)
      }
    }
    t.match(await unpack(t, endless()), { outcome: /RTK_ERR_IMAGE_LARGE: .*10000000000 bytes/, accepted: undefined })
    t.equal(read, 0)
  })

  t.test('a first line of 1 MiB is read to its end, one byte more is not', async (t) => {
    const begins = async (...pieces: Buffer[]) =>
      (
        await unpack(
          t,
          (async function* () {
            yield* pieces
          })(),
        )
      ).outcome
    const line = (length: number) => Buffer.alloc(length, 65)
    const end = Buffer.from('\nAAAA\n')
    t.notMatch(await begins(line(largestManifest), end), /does not begin with a manifest/, 'its end may come later')
    t.match(await begins(line(largestManifest + 1), end), /does not begin with a manifest/)
  })

  t.test('a manifest of more than 1 MiB is given up, also when no line ever ends: 10 GB of zeros', async (t) => {
    for (const fill of [0, 65]) {
      let read = 0
      async function* endless() {
        for (; read < 10_000_000_000; read += 65_536) yield Buffer.alloc(65_536, fill)
      }
      t.match(await unpack(t, endless()), { outcome: /does not begin with a manifest/, accepted: undefined })
      t.ok(read <= largestManifest + 131_072, `${read} bytes`)
    }
    const files = Array.from({ length: 8_000 }, (_, i) => ({
      path: `${'p'.repeat(80)}${i}`,
      size: 0,
      sha256: '0'.repeat(64),
    }))
    const large = headOf({ format: 1, ...facts, key: pair.id, payload: { size: 1, sha256: '0'.repeat(64) }, files })
    t.ok(large.length > largestManifest)
    t.match((await unpack(t, large)).outcome, /does not begin with a manifest/)
    const second = Buffer.concat([Buffer.from('{}\n'), Buffer.alloc(100_000, 65)])
    t.match((await unpack(t, second)).outcome, /second line is not a signature/)
  })

  t.test(
    'a bomb writes no byte more than was signed: zeros that unfold behind the files, or in one of them',
    async (t) => {
      const a = entry('a')
      const bomb = gzipSync(Buffer.concat([a.header, padded(a.bytes), Buffer.alloc(512), Buffer.alloc(30_000_000, 1)]))
      const behind = await unpack(t, handmade({ entries: [a], payload: bomb }))
      t.match(behind, { outcome: /continues after its files/, files: ['a'] })
      t.equal(readFileSync(join(behind.folder, 'a')).length, 1)
    },
  )

  t.test('a source that is slow, stops or breaks is what it is', async (t) => {
    const image = await makeImage(t)
    async function* slow() {
      for await (const piece of inPieces(image, 97)) {
        await new Promise((resolve) => setImmediate(resolve))
        yield piece
      }
    }
    t.equal((await unpack(t, slow())).outcome, 'whole')
    async function* breaks() {
      yield image.subarray(0, image.length - 50)
      throw Object.assign(new Error('the client is gone'), { code: 'RTK_ERR_ABORTED' })
    }
    t.match((await unpack(t, breaks())).outcome, /the client is gone/)
    const progress: number[] = []
    await unpack(t, inPieces(image, 20), { progress: (received) => progress.push(received) })
    t.ok(progress.length > 3 && progress.every((one, i) => i === 0 || one > (progress[i - 1] as number)))
  })

  t.test('a folder that is not empty, and a disk that takes no writes, are errors of their own', async (t) => {
    const image = await makeImage(t)
    const folder = scratch(t)
    symlinkSync('/dev/null', join(folder, 'block.bin'))
    const accept = async () => folder
    await t.rejects(unpackImage(inPieces(image), { keys, largest_bytes: 1_000_000, accept }), { code: 'EEXIST' })
  })
})

t.test('a folder that an image cannot hold is not packed', async (t) => {
  const folder = scratch(t)
  mkdirSync(join(folder, 'in'))
  writeFileSync(join(folder, 'in', 'two words'), '')
  await t.rejects(packImage(join(folder, 'in'), facts, privateKey, join(folder, 'image')), {
    code: 'RTK_ERR_USAGE',
    message: /"two words"/,
  })
  rmSync(join(folder, 'in', 'two words'))
  writeFileSync(join(folder, 'in', 'a'), '')
  await t.rejects(packImage(join(folder, 'in'), { ...facts, arch: 'mips' }, privateKey, join(folder, 'image')), {
    code: 'RTK_ERR_IMAGE',
  })
  t.strictSame(readdirSync(folder).sort(), ['in'], 'nothing is left behind')
})
