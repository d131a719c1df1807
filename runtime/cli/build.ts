import { parseArgs } from 'node:util'
import { buildDevice } from '../build/device.js'
import { RtkError } from '../errors.js'
import { readVariant } from './variant-file.js'

export const buildHelp = `rtk-base build VARIANT.json --out DIR
rtk-base build VARIANT.json --deb --out DIR [--target TARGET]...

Makes the folder that a device runs: the runtime and the variant's plugins bundled, with digests, and the native packages.
On the device: node DIR/rtk-base.mjs run --data /var/lib/rtk-base

  VARIANT.json   variant file, or the name of a shipped one
  --out DIR      emptied first; must be empty or made by an earlier build
  --deb          makes Debian packages in DIR instead, which is not emptied; needs dpkg-deb. SOURCE_DATE_EPOCH sets the time
                 in them: the same sources then give the same bytes. DEBFULLNAME and DEBEMAIL name the maintainer
  --target       with --deb: linux-x64 (amd64), linux-arm64 (arm64) or linux-arm (armhf); left out: all three
`

export async function buildCommand(args: string[]): Promise<number> {
  if (args.includes('--deb')) return (await import('./build-deb.js')).buildDebCommand(args)
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { out: { type: 'string' } } })
  const [source, ...more] = positionals
  if (!source || more.length > 0)
    throw new RtkError('RTK_ERR_USAGE', `build takes one variant, not "${positionals.join(' ')}"`)
  if (!values.out) throw new RtkError('RTK_ERR_USAGE', 'build needs --out DIR')
  const { out, plugins, sha256 } = await buildDevice(readVariant(source), values.out, (line) => {
    process.stdout.write(`  ${line}\n`)
  })
  process.stdout.write(`${out}: ${plugins.length} plugins, sha256 ${sha256}\n`)
  return 0
}
