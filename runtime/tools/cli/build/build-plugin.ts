import type { KeyObject } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { RtkError } from '../../../errors.js'
import { type ImageFacts, packImage } from '../../../lib/image/pack.js'
import { bundledPackages } from '../../build/deb/bundled.js'
import { licencesFile, licenceText } from '../../build/deb/copyright.js'
import { prebuild } from '../../build/prebuild.js'
import { parseArgs } from '../parse-args.js'
import { signingKey, versionOf } from './arguments.js'

export const buildPluginHelp = `rtk-base build-plugin DIR [--out DIR] [--sign KEY --hardware NAME... [--bundle SHA256]
                      [--min-version VERSION] [--allow-downgrade] [--image FILE]]

Makes the prebuilt form of a plugin: one file with everything it imports, and a manifest with its digest. A station
loads this form without esbuild, and refuses it if a byte was changed.

  DIR         folder of the plugin, with index.ts or index.js
  --out DIR   output folder (default: DIR/dist)
  --sign KEY  also makes the signed image that updates this one plugin by POST /update-firmware
  --image     image file (default: NAME.img beside DIR, because files in DIR are published with the plugin)
  --hardware  stations that the image is for: the field hardware of their variants
  --min-version      once this image is installed, the station refuses images of this plugin older than VERSION
  --allow-downgrade  stations with a newer version of the plugin accept the image too
  --bundle    only for stations running this bundle (esp.sha256 in the status document)

Load it with: rtk-base plugins load DIR/dist
For npm publish, package.json needs "main": "dist/NAME.cjs" and "files": ["dist"].
`

export async function buildPluginCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      sign: { type: 'string' },
      hardware: { type: 'string', multiple: true, default: [] },
      bundle: { type: 'string' },
      image: { type: 'string' },
      'min-version': { type: 'string' },
      'allow-downgrade': { type: 'boolean', default: false },
    },
  })
  const [source, ...more] = positionals
  if (!source || more.length > 0) {
    throw new RtkError('RTK_ERR_USAGE', `build-plugin takes the folder of one plugin, not "${positionals.join(' ')}"`)
  }
  const folder = resolve(source)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new RtkError('RTK_ERR_USAGE', `${folder} is not a folder`)
  }
  const out = resolve(values.out ?? join(folder, 'dist'))
  if (out === folder) throw new RtkError('RTK_ERR_USAGE', `--out ${out} is the folder of the plugin: name another one`)
  const { hardware, bundle } = values
  const key = values.sign === undefined ? undefined : signingKey(values.sign)
  if (key && hardware.length === 0) throw new RtkError('RTK_ERR_USAGE', '--sign needs --hardware NAME')
  const minVersion = versionOf('--min-version', values['min-version'])
  const { 'allow-downgrade': downgrade } = values
  if (!key && (minVersion || downgrade || bundle || values.image)) {
    throw new RtkError('RTK_ERR_USAGE', '--bundle, --image, --min-version and --allow-downgrade need --sign KEY')
  }
  if (bundle !== undefined && !/^[0-9a-f]{64}$/.test(bundle)) {
    throw new RtkError('RTK_ERR_USAGE', `--bundle takes 64 hexadecimal digits, not "${bundle}"`)
  }
  mkdirSync(out, { recursive: true })
  const before = earlierFiles(out)
  const { entries, inputs } = await prebuild([folder], { base: folder, folder: out }, () => {})
  const [{ name, version, file, sha256 }] = entries
  for (const old of before) if (old !== file) rmSync(join(out, old), { force: true })
  const parts = [file, 'manifest.json', ...writeLicences(out, inputs)]
  process.stdout.write(`${join(out, file)}: ${name} ${version}, sha256 ${sha256}\n`)
  const advice = packageAdvice(folder, relative(folder, join(out, file)))
  if (advice) process.stdout.write(`  ${advice}\n`)
  if (!key) return 0
  const facts = {
    hardware,
    ...(bundle && { bundle }),
    ...(minVersion && { minVersion }),
    ...(downgrade && { downgrade }),
  }
  await sign(out, { name, version, parts }, facts, {
    key,
    image: values.image === undefined ? `${join(dirname(folder), name)}.img` : resolve(values.image),
  })
  return 0
}

/** Writes the licences of the packages that went into the plugin. @returns the file, where there are any */
function writeLicences(out: string, inputs: readonly string[]): string[] {
  const packages = bundledPackages(inputs)
  rmSync(join(out, licencesFile), { force: true })
  if (packages.length === 0) return []
  writeFileSync(join(out, licencesFile), licenceText(packages))
  return [licencesFile]
}

/** The image contains only the prebuilt form, not other files beside it. */
async function sign(
  out: string,
  { name, version, parts }: { name: string; version: string; parts: readonly string[] },
  facts: Pick<ImageFacts, 'hardware' | 'bundle' | 'minVersion' | 'downgrade'>,
  { key, image }: { key: KeyObject; image: string },
): Promise<void> {
  versionOf(`the version of ${name}`, version)
  const folder = mkdtempSync(join(out, '.image-'))
  try {
    for (const part of parts) copyFileSync(join(out, part), join(folder, part))
    const manifest = await packImage(folder, { type: 'plugin', name, version, arch: 'any', ...facts }, key, image)
    process.stdout.write(`${image}: for ${facts.hardware.join(', ')}, signed by key ${manifest.key}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Files of an earlier build-plugin run: the plugin may have been renamed since. */
function earlierFiles(out: string): string[] {
  const file = join(out, 'manifest.json')
  if (!existsSync(file)) return []
  try {
    const { plugins } = JSON.parse(readFileSync(file, 'utf8')) as { plugins: { file: string }[] }
    return plugins.map((entry) => entry.file).filter((name) => /^[a-z0-9-]+\.cjs$/.test(name))
  } catch {
    return []
  }
}

/** Fields that package.json lacks for the prebuilt form to be found in the published package. */
function packageAdvice(folder: string, main: string): string | undefined {
  const file = join(folder, 'package.json')
  if (!existsSync(file) || main.startsWith('..')) return undefined
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { main?: string; exports?: unknown }
  if (manifest.exports !== undefined || resolve(folder, manifest.main ?? '') === resolve(folder, main)) return undefined
  return `for npm publish, package.json needs "main": "${main}"`
}
