import { resolve } from 'node:path'
import { RtkError } from '../../../errors.js'
import { packImage } from '../../../lib/image/pack.js'
import { buildDevice, type DeviceTarget, deviceTargets } from '../../build/device.js'
import { parseArgs } from '../parse-args.js'
import { readVariant } from '../variant-file.js'
import { publicKeyText, signingKey, versionOf } from './arguments.js'

export const buildHelp = `rtk-base build VARIANT.json --out DIR [--target TARGET] [--release VERSION]
               [--sign KEY [--min-version VERSION] [--new-key PUB]... [--replaces NAME]... [--allow-downgrade]]
rtk-base build VARIANT.json --deb --out DIR [--target TARGET]... [--release VERSION] [--sign KEY] [--notes FILE]

Builds the deployable folder for a device: bundles of the runtime and of the variant's plugins, their digests, and the
native packages. On the device: node DIR/rtk-base.mjs run --data /var/lib/rtk-base

  VARIANT.json    variant file, or the name of a shipped one
  --out DIR       output folder, emptied first; it must be empty or made by an earlier build
  --target        linux-arm64, linux-x64 or linux-arm: include native code for this platform only; default: all platforms
  --release       version of the build, e.g. 1.4.0; default: the version of rtk-base
  --sign KEY      also makes DIR.img, the signed image for POST /update-firmware (KEY: made by rtk-base keys). Stations
                  that run this build trust the key
  --min-version   once this image is confirmed on a station, the station refuses images older than VERSION
  --replaces      stations whose variant has this name accept the image too; default: only the name of VARIANT
  --allow-downgrade  stations with a newer version accept the image too
  --new-key PUB   once this image is confirmed, the station also trusts this public key
  --deb           makes Debian packages in DIR instead, without emptying DIR; needs dpkg-deb. SOURCE_DATE_EPOCH sets the time
                  stamps, so that the same sources give the same bytes. DEBFULLNAME and DEBEMAIL name the maintainer.
                  --target: linux-x64 (amd64), linux-arm64 (arm64) or linux-arm (armhf); default: all three
                  --sign: the installed package accepts updates signed with this key; to make the image itself, run
                  build without --deb
  --notes FILE    entries for the changelog of the package, one per line
`

export async function buildCommand(args: string[]): Promise<number> {
  if (args.includes('--deb')) return (await import('./build-deb.js')).buildDebCommand(args)
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      target: { type: 'string' },
      release: { type: 'string' },
      sign: { type: 'string' },
      'min-version': { type: 'string' },
      replaces: { type: 'string', multiple: true, default: [] },
      'allow-downgrade': { type: 'boolean', default: false },
      'new-key': { type: 'string', multiple: true, default: [] },
    },
  })
  const [source, ...more] = positionals
  if (!source || more.length > 0)
    throw new RtkError('RTK_ERR_USAGE', `build takes one variant, not "${positionals.join(' ')}"`)
  if (!values.out) throw new RtkError('RTK_ERR_USAGE', 'build needs --out DIR')
  const target = targetOf(values.target)
  const release = versionOf('--release', values.release)
  const minVersion = versionOf('--min-version', values['min-version'])
  const newKeys = values['new-key'].map(publicKeyText)
  const { replaces, 'allow-downgrade': downgrade } = values
  if (!values.sign && (minVersion || newKeys.length > 0 || replaces.length > 0 || downgrade)) {
    const text = '--min-version, --new-key, --replaces and --allow-downgrade apply to an image: they need --sign KEY'
    throw new RtkError('RTK_ERR_USAGE', text)
  }
  const key = values.sign === undefined ? undefined : signingKey(values.sign)
  const file = readVariant(source)
  const options = { target, release, signer: key }
  const { out, name, plugins, version, sha256 } = await buildDevice(file, values.out, options, (line) => {
    process.stdout.write(`  ${line}\n`)
  })
  process.stdout.write(`${out}: ${plugins.length} plugins, sha256 ${sha256}\n`)
  if (!key) return 0
  const facts = {
    type: 'bundle' as const,
    name,
    version,
    hardware: [file.variant.hardware],
    arch: target ?? 'any',
    ...(minVersion && { minVersion }),
    ...(newKeys.length > 0 && { newKeys }),
    ...(replaces.length > 0 && { replaces }),
    ...(downgrade && { downgrade }),
  }
  const image = `${resolve(out)}.img`
  const manifest = await packImage(out, facts, key, image)
  process.stdout.write(`${image}: ${facts.hardware} ${facts.arch} ${version}, signed by key ${manifest.key}\n`)
  return 0
}

/** @throws RTK_ERR_USAGE */
function targetOf(named: string | undefined): DeviceTarget | undefined {
  const target = deviceTargets.find((one) => one === named)
  if (named === undefined || target) return target
  throw new RtkError('RTK_ERR_USAGE', `--target takes ${deviceTargets.join(', ')}, not "${named}"`)
}
