/** Which keys a built device trusts: those of its variant, and who signs its images. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf, RtkError } from '../errors.js'
import { readPublicKey } from '../image/keys.js'

type Options = Record<string, unknown>

/**
 * The option `keys` of the plugin ota, as a device can use it: files become their PEM text, and the signer's key joins them.
 * @param base relative files are found from here
 */
export function withTrustedKeys(ota: Options, base: string, signer: KeyObject | undefined): Options {
  const { keys = [] } = ota
  if (!Array.isArray(keys)) return ota
  const texts = keys.map((key) => pemOf(readPem(String(key), base)))
  if (signer) texts.push(pemOf(createPublicKey(signer)))
  return texts.length === 0 ? ota : { ...ota, keys: [...new Set(texts)] }
}

const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()

function readPem(key: string, base: string): KeyObject {
  if (key.startsWith('-----BEGIN ')) return readPublicKey(key)
  const file = resolve(base, key)
  try {
    return readPublicKey(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new RtkError('RTK_ERR_VARIANT', `ota.keys: ${file}: ${messageOf(error)}`, {
      place: ['plugins', 'ota', 'keys'],
    })
  }
}
