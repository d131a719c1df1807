/** Images and stations for the tests of updates. */
import type { KeyObject } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createTestStation, type TestStationOptions } from 'rtk-base/testing'
import type { Test } from 'tap'
import ota from '../../../../plugins/device/ota/index.js'
import system from '../../../../plugins/device/system/index.js'
import httpApi from '../../../../plugins/page/http-api/index.js'
import { generateKeys, readPrivateKey } from '../../../../runtime/lib/image/keys.js'
import { type ImageFacts, packImage } from '../../../../runtime/lib/image/pack.js'
import type { AnyPlugin } from '../../../../runtime/plugin.js'
import { MemoryStore } from '../../../harness/memory-store.js'

export const maker = generateKeys()
export const makerKey = readPrivateKey(maker.privatePem)

export function scratch(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-ota-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A bundle that nobody starts. */
export const bundleFiles = (version: string): Record<string, string> => ({
  'rtk-base.mjs': `console.log(${JSON.stringify(version)})\n`,
  'package.json': JSON.stringify({ version }),
  'node_modules/native/build.node': version.repeat(3_000),
})

export async function imageOf(
  t: Test,
  files: Record<string, string>,
  facts: Partial<ImageFacts> = {},
  key: KeyObject = makerKey,
): Promise<Buffer> {
  const folder = scratch(t)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, 'in', path)), { recursive: true })
    writeFileSync(join(folder, 'in', path), text)
  }
  const whole: ImageFacts = {
    type: 'bundle',
    name: 'test',
    version: '2.0.0',
    hardware: ['test'],
    arch: 'any',
    ...facts,
  }
  await packImage(join(folder, 'in'), whole, key, join(folder, 'image'))
  return readFileSync(join(folder, 'image'))
}

export const bundleImage = (t: Test, version: string, facts: Partial<ImageFacts> = {}, key?: KeyObject) =>
  imageOf(t, bundleFiles(version), { version, ...facts }, key)

export interface RigOptions extends TestStationOptions {
  root?: string
  running?: string
  onTrial?: boolean
  version?: string
  /** Name of the variant that the bundle was made of. */
  bundle?: string
  ota?: Record<string, unknown>
}

/** A station that runs from a slot. */
export async function otaStation(t: Test, options: RigOptions = {}) {
  const {
    root = scratch(t),
    running = 'a',
    onTrial = false,
    version = '1.0.0',
    bundle,
    ota: given = {},
    plugins,
    ...rest
  } = options
  const store = options.store ?? new MemoryStore()
  let ready = 0
  const extended: number[] = []
  const station = await createTestStation({
    slots: { root, running, onTrial },
    release: {
      version,
      sha256: version.replaceAll(/\W/g, '').padEnd(64, '0'),
      built: '2026-01-01T00:00:00.000Z',
      ...(bundle && { variant: bundle }),
    },
    supervisor: {
      ready: () => {
        ready++
      },
      alive: () => {},
      status: () => {},
      extendStart: (ms) => extended.push(ms),
      stopping: () => {},
    },
    ...rest,
    store,
    plugins: {
      system: system as AnyPlugin,
      'http-api': httpApi as AnyPlugin,
      ota: [ota as AnyPlugin, { keys: [maker.publicPem], ...given }],
      ...plugins,
    },
  })
  t.teardown(() => station.stop())
  const post = (body: RequestInit['body'], query = 'esp') =>
    station.request(`/update-firmware?${query}`, { method: 'POST', body, duplex: 'half' } as RequestInit)
  const command = (text: string) => station.request(`/system?${text}`, { method: 'POST' })
  const update = () => station.field('base.update') as { state: string; failed: boolean; progress: number }
  const reasons = () =>
    (station.field('base.state.errors') as { code: string; text: string }[])
      .filter(({ code }) => code.startsWith('update-') || code.startsWith('plugin-'))
      .map(({ text }) => text)
      .join('\n')
  const state = () => {
    try {
      return readFileSync(join(root, 'state'), 'utf8').trim().split('\n').join(' ')
    } catch {
      return ''
    }
  }
  const files = (slot: string) => {
    try {
      return readdirSync(join(root, slot), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
        .sort((one, other) => one.localeCompare(other))
    } catch {
      return undefined
    }
  }
  return { station, store, root, post, command, update, reasons, state, files, ready: () => ready, extended }
}
