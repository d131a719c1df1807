import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Variant } from '../../../../schemas/variant.js'
import { messageOf, RtkError } from '../../../errors.js'
import { filesBelow, packageRoot, readRelease } from '../../../platform/release.js'
import type { PluginDefinition } from '../../../plugin.js'
import type { VariantFile } from '../../cli/variant-file.js'
import { buildDevice, type DeviceBuild, type DeviceOptions } from '../device.js'
import { writeJson } from '../prebuild.js'
import { bundledPackages } from './bundled.js'
import { type ControlFacts, changelogText, controlText, debVersion } from './control.js'
import { debianTexts, licenceText } from './copyright.js'
import { sbom } from './sbom.js'
import { makeSlot } from './slot.js'

/** Machine → Debian's name of it. */
export const debTargets = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64', 'linux-arm': 'armhf' } as const
export type DebTarget = keyof typeof debTargets

export interface DebOptions extends Pick<DeviceOptions, 'release' | 'signer'> {
  targets: readonly DebTarget[]
  /** The news, one item a line. */
  notes?: string | undefined
}

export interface Deb {
  readonly file: string
  readonly size: number
  readonly sha256: string
}

const lib = 'usr/lib/rtk-base'
const doc = 'usr/share/doc/rtk-base'
const drop = 'usr/lib/systemd/system/rtk-base.service.d'

/** File of `files` → where it lies on the device. */
const places: Readonly<Record<string, string>> = {
  launch: `${lib}/launch`,
  'notify-exec': `${lib}/notify-exec`,
  ended: `${lib}/ended`,
  exits: `${lib}/exits`,
  'prefer-factory': `${lib}/prefer-factory`,
  'rtk-base.service': 'usr/lib/systemd/system/rtk-base.service',
  'sysusers.conf': 'usr/lib/sysusers.d/rtk-base.conf',
  'udev.rules': 'usr/lib/udev/rules.d/60-rtk-base.rules',
  'polkit.rules': 'usr/share/polkit-1/rules.d/50-rtk-base.rules',
  default: 'etc/default/rtk-base',
  'README.Debian': `${doc}/README.Debian`,
  postinst: 'DEBIAN/postinst',
  prerm: 'DEBIAN/prerm',
  postrm: 'DEBIAN/postrm',
}

/** Unit settings that a plugin requires; undefined: none. */
export function dropIn({ name, system }: PluginDefinition): string | undefined {
  return system?.unit && `# For the plugin ${name}.\n[Service]\n${system.unit.join('\n')}\n`
}

/** Settings of the device: dpkg keeps changes made by a person. */
const isSetting = (path: string) => path.startsWith('etc/')

/**
 * Makes the Debian packages of a variant, one for each machine. The same sources, time and tools give the same bytes.
 * @throws RTK_ERR_UNAVAILABLE without dpkg-deb, RTK_ERR_USAGE
 */
export async function buildDebs(
  file: VariantFile,
  out: string,
  { targets, release, signer, notes = '' }: DebOptions,
  tell: (line: string) => void,
): Promise<Deb[]> {
  dpkgDeb('--version')
  const built = buildTime()
  const folder = resolve(out)
  const work = mkdtempSync(join(tmpdir(), 'rtk-base-deb-'))
  try {
    mkdirSync(folder, { recursive: true })
    const device = await buildDevice(file, join(work, 'device'), { release, signer }, tell)
    return targets.map((target) => {
      tell(`package for ${debTargets[target]}`)
      return packDeb(join(work, target), folder, { device, variant: file.variant, target, built, notes })
    })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** @throws RTK_ERR_USAGE */
function buildTime(): Date {
  const { SOURCE_DATE_EPOCH: epoch } = process.env
  if (epoch === undefined || epoch === '') return new Date(Math.floor(Date.parse(readRelease().built) / 1000) * 1000)
  if (!/^\d{1,11}$/.test(epoch)) {
    throw new RtkError('RTK_ERR_USAGE', `SOURCE_DATE_EPOCH is "${epoch}": seconds since 1970 are expected`)
  }
  return new Date(Number(epoch) * 1000)
}

interface DebParts {
  device: DeviceBuild
  variant: Variant
  target: DebTarget
  built: Date
  notes: string
}

function packDeb(tree: string, out: string, { device, variant, target, built, notes }: DebParts): Deb {
  const root = packageRoot()
  const architecture = debTargets[target]
  const at = (path: string) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    return join(tree, path)
  }
  makeSlot(device.out, at(`${lib}/factory`), target, built)
  for (const [name, place] of Object.entries(places)) {
    copyFileSync(join(root, 'runtime', 'tools', 'build', 'deb', 'files', name), at(place))
  }
  for (const definition of device.definitions) {
    const lines = dropIn(definition)
    if (lines) writeFileSync(at(`${drop}/${definition.name}.conf`), lines)
  }
  const manifest = readFileSync(join(tree, lib, 'factory', 'manifest.json'), 'utf8')
  const { version, sha256 } = JSON.parse(manifest) as { version: string; sha256: string }
  const bundled = bundledPackages(device.inputs, { slot: join(tree, lib, 'factory'), root })
  writeFileSync(at(`${doc}/copyright`), licenceText(bundled, { root, common: debianTexts }))
  writeJson(at(`${doc}/sbom.cdx.json`), sbom({ version, sha256, architecture, built }, bundled))
  writeFileSync(at(`${doc}/changelog.gz`), gzipSync(changelogText(version, built, notes), { level: 9 }))
  const packages = device.definitions.flatMap(({ system }) => system?.packages ?? [])
  writeControl(tree, { version, architecture, variant, recommends: ['polkitd', ...packages] })
  settle(tree, built)
  const name = join(out, `rtk-base_${debVersion(version)}_${architecture}.deb`)
  const epoch = { SOURCE_DATE_EPOCH: String(built.getTime() / 1000) }
  dpkgDeb(['--root-owner-group', '--threads-max=1', '-Zxz', '--build', tree, name], epoch)
  return {
    file: name,
    size: statSync(name).size,
    sha256: createHash('sha256').update(readFileSync(name)).digest('hex'),
  }
}

function writeControl(tree: string, facts: Omit<ControlFacts, 'size_KiB'>): void {
  const paths = [...filesBelow(tree)].map((file) => relative(tree, file)).filter((path) => !path.startsWith('DEBIAN/'))
  const size = (path: string) => Math.ceil(statSync(join(tree, path)).size / 1024)
  const md5 = (path: string) =>
    createHash('md5')
      .update(readFileSync(join(tree, path)))
      .digest('hex')
  const size_KiB = paths.reduce((sum, path) => sum + size(path), 0)
  const sums = paths.filter((path) => !isSetting(path)).map((path) => `${md5(path)}  ${path}\n`)
  const write = (name: string, text: string) => writeFileSync(join(tree, 'DEBIAN', name), text)
  write('control', controlText({ ...facts, size_KiB }))
  write('md5sums', sums.join(''))
  write(
    'conffiles',
    paths
      .filter(isSetting)
      .map((path) => `/${path}\n`)
      .join(''),
  )
}

/** Sets modes and times independent of the builder and the time of the build. */
function settle(folder: string, built: Date): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) settle(path, built)
    else chmodSync(path, isProgram(path) ? 0o755 : 0o644)
    lutimesSync(path, built, built)
  }
  chmodSync(folder, 0o755)
  lutimesSync(folder, built, built)
}

/** Whether the file names its interpreter. */
const isProgram = (path: string) => readFileSync(path).subarray(0, 2).toString('latin1') === '#!'

/** @throws RTK_ERR_UNAVAILABLE */
function dpkgDeb(args: string | readonly string[], env: NodeJS.ProcessEnv = {}): void {
  try {
    execFileSync('dpkg-deb', [args].flat(), { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } })
  } catch (error) {
    const isMissing = (error as { code?: string }).code === 'ENOENT'
    const text = isMissing ? 'dpkg-deb is not installed here: apt-get install dpkg' : messageOf(error)
    throw new RtkError('RTK_ERR_UNAVAILABLE', text)
  }
}
