import { createReadStream, type ReadStream, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createGunzip } from 'node:zlib'
import { RtkError } from '../../errors.js'
import { antennaCode } from '../../lib/gnss/antenna-code.js'
import { gpsSeconds, knownLeap_s, unixToGps } from '../../lib/gnss/gnss-time.js'
import {
  type RinexVersion,
  readRaw,
  rinexName,
  rinexPresets,
  type StationFacts,
  spanTrouble,
  systemsIn,
} from '../../lib/rinex/index.js'
import { disk } from '../../platform/files/disk.js'
import { timeOf } from '../../platform/time/time-range.js'
import { parseArgs } from './parse-args.js'

const presetNames = Object.keys(rinexPresets) as (keyof typeof rinexPresets)[]

export const rinexHelp = `rtk-base rinex FILE... [--out DIR] [--date DATE]

Converts recorded bytes of a receiver to RINEX: RTCM (MSM4 to 7 and ephemerides), u-blox (RXM-RAWX and RXM-SFRBX), Unicore
(OBSVMB) or Septentrio (MeasEpoch), also compressed (.gz). Several files are read as one recording, in the given order. Writes
a file of observations and, with ephemerides, a file of navigation data. If a recording has both MSM and the receiver's own
messages, only the latter are used, unless MSM has more than twice as many epochs.

  --out DIR         folder of the result (default: .)
  --date DATE       a day near the first epoch, for RTCM, which has no week numbers (default: when the first file was last changed)
  --preset NAME     ${presetNames.join(', ')} (default: full)
  --version N       3.05 or 2.11
  --interval S      seconds between epochs
  --marker NAME     name of the point (default: RTKB)
  --antenna CODE    IGS code of the antenna and its radome, e.g. 'TRM57971.00 NONE'
  --height M        antenna reference point above the marker, metres (default: 0)
  --receiver TYPE   type of the receiver, e.g. 'u-blox ZED-F9P'
  --position X,Y,Z  of the marker, ECEF metres
`

const usage = (text: string) => new RtkError('RTK_ERR_USAGE', text)

export async function rinexCommand(args: string[]): Promise<number> {
  const { positionals: files, values } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      out: { type: 'string', default: '.' },
      ...Object.fromEntries(
        ['date', 'preset', 'version', 'interval', 'marker', 'antenna', 'height', 'receiver', 'position'].map((name) => [
          name,
          { type: 'string' as const },
        ]),
      ),
    },
  }) as { positionals: string[]; values: Record<string, string | undefined> }
  const [first] = files
  if (first === undefined) throw usage('name the files to convert')
  for (const file of files) {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw usage(`${file}: no such file`)
  }
  const presetName = oneOf('preset', values.preset ?? 'full', presetNames)
  const preset = rinexPresets[presetName]
  const version: RinexVersion = oneOf('version', values.version ?? preset.version, ['3.05', '2.11'] as const)
  const interval_s =
    values.interval === undefined ? preset.interval_s : numberOf('interval', values.interval, 0.05, 3600)
  const near_ms = values.date === undefined ? statSync(first).mtimeMs : timeOf(values.date)
  if (near_ms === undefined) throw usage(`--date ${values.date}: not a date such as 2026-11-27`)

  const source = async function* () {
    for (const file of files) {
      const bytes = createReadStream(file)
      if (!file.endsWith('.gz')) yield* bytes
      else yield* unpacked(bytes, file)
    }
  }
  const near_s = gpsSeconds(unixToGps(near_ms / 1000, knownLeap_s))
  const systems = systemsIn(version, preset.systems)
  const found = await readRaw(source, { near_s, interval_s, systems })
  if (!found)
    throw new RtkError(
      'RTK_ERR_USAGE',
      `${first}: no observations (MSM4 to 7, RXM-RAWX, OBSVMB or MeasEpoch) are in it`,
    )

  const station = stationOf(values)
  const origin = { program: 'rtk-base', by: '', now_unix_s: Date.now() / 1000 }
  const folder = resolve(values.out ?? '.')
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw usage(`--out ${folder}: no such folder`)
  const observations = join(folder, rinexName(version, 'observations', station.marker, found.contents))
  await write(observations, found.observations(version, station, origin))
  const { epochs, missing, satellites, skipped, source: kind } = found
  process.stdout.write(
    `${observations}  ${epochs} epochs of ${kind}, ${missing} missing, ${satellites.length} satellites\n`,
  )
  const trouble = spanTrouble(presetName, gpsSeconds(found.contents.last) - gpsSeconds(found.contents.first))
  if (trouble) process.stderr.write(`${trouble}\n`)
  const { checksums, contents } = skipped
  if (checksums > 0) process.stderr.write(`${checksums} messages with wrong checksums are left out\n`)
  if (contents > 0)
    process.stderr.write(`${contents} messages with damaged observations or without a time are left out\n`)
  if (found.navigation.length === 0) return 0
  const navigation = join(folder, rinexName(version, 'navigation', station.marker, found.contents))
  await write(navigation, found.navigationParts(origin))
  process.stdout.write(`${navigation}  ${found.navigation.length} ephemerides\n`)
  return 0
}

/** A torn end of the file is left out, with a warning. */
async function* unpacked(packed: ReadStream, name: string): AsyncGenerator<Uint8Array> {
  const bytes = packed.pipe(createGunzip())
  packed.on('error', (error) => bytes.destroy(error))
  try {
    yield* bytes
  } catch (error) {
    process.stderr.write(`${name}: ${(error as Error).message}; what is before is converted\n`)
  }
}

function stationOf(values: Record<string, string | undefined>): StationFacts {
  const [x, y, z, more] = (values.position ?? '0,0,0').split(',').map(Number)
  if (![x, y, z].every((axis) => Math.abs(axis ?? NaN) < 1e8) || more !== undefined)
    throw usage('--position is X,Y,Z in metres')
  return {
    marker: values.marker ?? 'RTKB',
    receiver: { type: values.receiver ?? 'UNKNOWN' },
    antenna: { type: antennaOf(values.antenna ?? 'UNKNOWN NONE') },
    delta_m: { up: numberOf('height', values.height ?? '0', -10, 100), east: 0, north: 0 },
    ...(values.position && { position: { x: x ?? 0, y: y ?? 0, z: z ?? 0 } }),
  }
}

function antennaOf(typed: string): string {
  const code = antennaCode(typed)
  if (code === '') throw usage('--antenna is a type of at most 16 characters and a radome of at most 4')
  return code
}

function oneOf<T extends string>(name: string, given: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === given)
  if (found === undefined) throw usage(`--${name} is one of ${allowed.join(', ')}`)
  return found
}

function numberOf(name: string, given: string, least: number, most: number): number {
  const value = Number(given)
  if (given.trim() === '' || !(value >= least && value <= most)) {
    throw usage(`--${name} is a number from ${least} to ${most}`)
  }
  return value
}

/** An unfinished file is removed. */
async function write(path: string, parts: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const file = await disk.open(path, 'w')
  try {
    for await (const part of parts) await file.write(part)
  } catch (error) {
    await disk.rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}
