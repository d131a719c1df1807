import { join } from 'node:path'
import { disk } from 'rtk-base/files'
import type { PluginContext } from 'rtk-base/plugin'
import type { BaseMachine } from 'rtk-base/schemas'

const pause_ms = 10_000
/** Bits of `get_throttled`: under-voltage now, and since the machine started. */
const undervoltage = 0x1_0001

/** Status files of the machine; another root in tests. */
export interface MachineFiles {
  root: string
}

const textOf = (file: string) => disk.readFile(file, 'utf8').catch(() => '')

/** The temperature of the hottest zone, °C; undefined without one. */
export async function temperature({ root }: MachineFiles): Promise<number | undefined> {
  const folder = join(root, 'sys', 'class', 'thermal')
  const zones = (await disk.readdir(folder).catch(() => [])).filter((name) => name.startsWith('thermal_zone'))
  const texts = await Promise.all(zones.map((zone) => textOf(join(folder, zone, 'temp'))))
  const values = texts.filter((text) => /^-?\d+\s*$/.test(text)).map((text) => Number(text) / 1000)
  return values.length > 0 ? Math.max(...values) : undefined
}

/** The firmware's bits of a Raspberry Pi; undefined elsewhere. */
export async function throttled({ root }: MachineFiles): Promise<number | undefined> {
  const text = await textOf(join(root, 'sys', 'devices', 'platform', 'soc', 'soc:firmware', 'get_throttled'))
  return /^[0-9a-f]{1,8}\s*$/i.test(text) ? Number.parseInt(text, 16) : undefined
}

/** By the firmware of a Raspberry Pi, or by the driver that kernels without that file have; undefined elsewhere. */
async function hasUndervoltage(files: MachineFiles): Promise<boolean | undefined> {
  const bits = await throttled(files)
  if (bits !== undefined) return (bits & undervoltage) !== 0
  const folder = join(files.root, 'sys', 'class', 'hwmon')
  const names = await disk.readdir(folder).catch(() => [])
  const texts = await Promise.all(names.map((name) => textOf(join(folder, name, 'in0_lcrit_alarm'))))
  const known = texts.map((text) => text.trim()).filter((text) => text === '0' || text === '1')
  return known.length > 0 ? known.includes('1') : undefined
}

/**
 * The size of the disk with this folder, which a broken disk does not let be made, bytes; undefined if it cannot be
 * asked.
 */
export async function diskOf(folder: () => string): Promise<{ free: number; size: number } | undefined> {
  try {
    const { bavail, blocks, bsize } = await disk.statfs(folder())
    return { free: bavail * bsize, size: blocks * bsize }
  } catch {
    return undefined
  }
}

/** `base.machine`: read at most every 10 s, and only while somebody asks. What the machine does not tell is left out. */
export class MachineHealth {
  readonly #ctx: PluginContext
  readonly #files: MachineFiles
  #readAt_ms = Number.NEGATIVE_INFINITY
  #last: BaseMachine | undefined

  constructor(ctx: PluginContext, files: MachineFiles = { root: '/' }) {
    this.#ctx = ctx
    this.#files = files
  }

  /** Undefined before the first reading. */
  get fields(): BaseMachine | undefined {
    const now_ms = this.#ctx.clock.monotonic()
    if (now_ms - this.#readAt_ms >= pause_ms) {
      this.#readAt_ms = now_ms
      void this.read()
    }
    return this.#last
  }

  async read(): Promise<void> {
    const [temp, disk, isLow] = await Promise.all([
      temperature(this.#files),
      diskOf(() => this.#ctx.dataDir('test').path),
      hasUndervoltage(this.#files),
    ])
    // The driver tells of now alone.
    const wasLow = isLow === undefined ? this.#last?.undervoltage : isLow || this.#last?.undervoltage === true
    this.#last = {
      ...(temp !== undefined && { temp: Math.round(temp * 10) / 10 }),
      ...(disk && { disk }),
      ...(wasLow !== undefined && { undervoltage: wasLow }),
    }
  }
}
