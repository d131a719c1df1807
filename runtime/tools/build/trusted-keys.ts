/** The keys that a built device trusts: those of its variant, and the signer of its images. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf, RtkError } from '../../errors.js'
import { readPublicKey } from '../../lib/image/keys.js'
import type { PluginDefinition } from '../../plugin.js'

type Options = Record<string, unknown>

/**
 * Options that hold public keys (marked `publicKeys` in the plugin's schema), as a device can use them: files become their PEM text, and
 * the signer's key joins them.
 * @param base relative files are found from here
 */
export function withTrustedKeys(
  { name, options: schema }: PluginDefinition,
  options: Options,
  { base, signer }: { base: string; signer: KeyObject | undefined },
): Options {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, { publicKeys?: boolean }> }
  const marked = Object.keys(properties).filter((key) => properties[key]?.publicKeys === true)
  const trusted = marked.flatMap((option) => {
    const { [option]: keys = [] } = options
    if (!Array.isArray(keys)) return []
    const texts = keys.map((key) => pemOf(readPem(String(key), base, [name, option])))
    if (signer) texts.push(pemOf(createPublicKey(signer)))
    return texts.length === 0 ? [] : [[option, [...new Set(texts)]]]
  })
  return { ...options, ...Object.fromEntries(trusted) }
}

const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()

function readPem(key: string, base: string, option: string[]): KeyObject {
  if (key.startsWith('-----BEGIN ')) return readPublicKey(key)
  const file = resolve(base, key)
  try {
    return readPublicKey(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new RtkError('RTK_ERR_VARIANT', `${option.join('.')}: ${file}: ${messageOf(error)}`, {
      place: ['plugins', ...option],
    })
  }
}
