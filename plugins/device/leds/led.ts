/** One LED of `/sys/class/leds`: blinking is the kernel's work, by its triggers, so that no process wakes for it. */
import { constants } from 'node:fs'
import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LedName, Pattern } from './patterns.js'

/** Attributes are there already; where one is missing there must no file be made. */
async function write(path: string, text: string): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_TRUNC)
  try {
    await file.writeFile(text)
  } finally {
    await file.close()
  }
}

const read = (path: string): Promise<string> => readFile(path, 'utf8').then((text) => text.trim())

/** By colour, as the kernel's naming scheme has it: `devicename:colour:function`. */
const colours: Readonly<Record<LedName, RegExp>> = {
  red: /(^|:)red(:|$)/,
  green: /(^|:)green(:|$)/,
  rgb: /(^|:)(rgb|multicolor)(:|$)/,
}

/** @returns the folder's name for each LED that is there; a name that is given counts alone */
export async function findLeds(
  folder: string,
  given: Partial<Record<LedName, string>>,
): Promise<Partial<Record<LedName, string>>> {
  const names = (await readdir(folder).catch(() => [])).sort()
  const found: Partial<Record<LedName, string>> = {}
  for (const led of Object.keys(colours) as LedName[]) {
    const wanted = given[led]
    const name = names.find((one) => (wanted === undefined ? colours[led].test(one) : one === wanted))
    if (name !== undefined) found[led] = name
  }
  return found
}

/**
 * Shows a pattern of at most one colour besides off, by the trigger `pattern`, else `timer`, else as steady light.
 * @throws the file system error: EACCES until udev has set the permissions of a new trigger's files
 */
export async function show(folder: string, name: string, pattern: Pattern): Promise<void> {
  const at = (attribute: string) => join(folder, name, attribute)
  const lit = pattern.find(({ v }) => v !== 0)?.v ?? 0
  const most = Number(await read(at('max_brightness'))) || 255
  const order = await read(at('multi_index')).catch(() => undefined)
  if (order !== undefined) await write(at('multi_intensity'), intensities(lit, order))
  const triggers = (await read(at('trigger'))).split(/\s+/).map((word) => word.replace(/^\[|\]$/g, ''))
  const level = ({ v }: { v: number }) => (v === 0 ? 0 : most)
  if (triggers.includes('pattern')) {
    await choose(at('trigger'), 'pattern')
    await write(
      at('pattern'),
      hardSteps(pattern.map((step) => ({ value: level(step), ms: Math.round(step.t * 1000) }))),
    )
    await write(at('repeat'), '-1').catch(() => {})
    return
  }
  const total_ms = (isLit: boolean) =>
    pattern.filter(({ v }) => (v !== 0) === isLit).reduce((sum, { t }) => sum + Math.round(t * 1000), 0)
  if (triggers.includes('timer')) {
    // Steady as well: a delay of 0 leaves the other state for ever, and the trigger's files keep their owner.
    await choose(at('trigger'), 'timer')
    await write(at('delay_on'), String(total_ms(true)))
    await write(at('delay_off'), String(total_ms(false)))
    return
  }
  // A kernel that cannot blink shows steady light.
  await write(at('brightness'), String(lit === 0 ? 0 : most))
}

/** Chosen again, a trigger would begin anew, and its files would change their owner. */
async function choose(path: string, trigger: string): Promise<void> {
  if (!(await read(path)).includes(`[${trigger}]`)) await write(path, trigger)
}

/** The kernel fades from each value to the next over the time of the first: a second entry of 0 ms makes the edge hard. */
const hardSteps = (steps: { value: number; ms: number }[]): string =>
  steps.map(({ value, ms }) => `${value} ${ms} ${value} 0`).join(' ')

/** 0xRRGGBB in the order of the LED's channels, each 0–255. */
function intensities(colour: number, order: string): string {
  const channels: Record<string, number> = { red: (colour >> 16) & 255, green: (colour >> 8) & 255, blue: colour & 255 }
  return order
    .split(/\s+/)
    .map((channel) => channels[channel] ?? 0)
    .join(' ')
}
