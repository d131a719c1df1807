/** Values of options that several commands take. */
import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { messageOf, RtkError } from '../../../errors.js'
import { readPrivateKey, readPublicKey } from '../../../lib/image/keys.js'

/** @throws RTK_ERR_USAGE */
export function signingKey(file: string): KeyObject {
  return readPrivateKey(readText(file))
}

/** The PEM of a public key. @throws RTK_ERR_USAGE */
export function publicKeyText(file: string): string {
  const pem = readText(file)
  return readPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString()
}

/** @throws RTK_ERR_USAGE */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new RtkError('RTK_ERR_USAGE', `${file} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

/** @throws RTK_ERR_USAGE */
export function versionOf(flag: string, text: string | undefined): string | undefined {
  if (text === undefined || /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(text)) return text
  throw new RtkError('RTK_ERR_USAGE', `${flag} takes a version such as 1.4.0, not "${text}"`)
}
