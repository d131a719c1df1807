import { RtkError } from '../../../errors.js'
import { buildDebs, type DebTarget, debTargets } from '../../build/deb/index.js'
import { parseArgs } from '../parse-args.js'
import { readVariant } from '../variant-file.js'
import { readText, signingKey, versionOf } from './arguments.js'

const isTarget = (text: string): text is DebTarget => Object.hasOwn(debTargets, text)

/** `rtk-base build VARIANT.json --deb --out DIR`. */
export async function buildDebCommand(args: string[]): Promise<number> {
  // Only an image raises the floor and brings keys.
  if (args.some((arg) => /^--(min-version|new-key|replaces|allow-downgrade)(=|$)/.test(arg)))
    throw new RtkError(
      'RTK_ERR_USAGE',
      '--min-version, --new-key, --replaces and --allow-downgrade apply to an image: they cannot be combined with --deb',
    )
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      deb: { type: 'boolean' },
      out: { type: 'string' },
      target: { type: 'string', multiple: true },
      release: { type: 'string' },
      sign: { type: 'string' },
      notes: { type: 'string' },
    },
  })
  const [source, ...more] = positionals
  if (!source || more.length > 0)
    throw new RtkError('RTK_ERR_USAGE', `build takes one variant, not "${positionals.join(' ')}"`)
  if (!values.out) throw new RtkError('RTK_ERR_USAGE', 'build needs --out DIR')
  const targets = (values.target ?? Object.keys(debTargets)).map((target) => {
    if (isTarget(target)) return target
    throw new RtkError('RTK_ERR_USAGE', `--target takes ${Object.keys(debTargets).join(', ')}, not "${target}"`)
  })
  const release = versionOf('--release', values.release)
  const signer = values.sign === undefined ? undefined : signingKey(values.sign)
  const notes = values.notes === undefined ? undefined : readText(values.notes)
  const made = await buildDebs(readVariant(source), values.out, { targets, release, signer, notes }, (line) => {
    process.stdout.write(`  ${line}\n`)
  })
  for (const { file, size, sha256 } of made) process.stdout.write(`${file}: ${size} bytes, sha256 ${sha256}\n`)
  return 0
}
