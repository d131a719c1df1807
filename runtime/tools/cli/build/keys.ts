import { closeSync, existsSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf, RtkError } from '../../../errors.js'
import { generateKeys } from '../../../lib/image/keys.js'
import { parseArgs } from '../parse-args.js'

export const keysHelp = `rtk-base keys NAME

Makes an Ed25519 key pair for signing updates: NAME.key and NAME.pub. Existing files are never overwritten.

  NAME.key   signs: rtk-base build --sign NAME.key. Keep it off the stations, and keep a copy: if it is lost, stations
             that trust only this key cannot be updated
  NAME.pub   verifies: list it in the option keys of the plugin ota
`

export async function keysCommand(args: string[]): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} })
  const [name, ...more] = positionals
  if (!name || more.length > 0) {
    throw new RtkError('RTK_ERR_USAGE', `keys takes one name, not "${positionals.join(' ')}"`)
  }
  const files = { key: `${resolve(name)}.key`, pub: `${resolve(name)}.pub` }
  const taken = Object.values(files).find((file) => existsSync(file))
  if (taken) throw new RtkError('RTK_ERR_USAGE', `${taken} exists, and a key is never overwritten: take another name`)
  const { privatePem, publicPem, id } = generateKeys()
  write(files.key, privatePem, 0o600)
  write(files.pub, publicPem, 0o644)
  process.stdout.write(`${files.key}: signs, keep it secret\n${files.pub}: key ${id}\n`)
  return 0
}

/** Durable: a key that has signed an image must not be lost with the power. */
function write(path: string, text: string, mode: number): void {
  try {
    const file = openSync(path, 'wx', mode)
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw new RtkError('RTK_ERR_USAGE', `${path} cannot be written: ${messageOf(error)}`, { cause: error })
  }
}
