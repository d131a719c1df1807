import { randomInt } from 'node:crypto'
import type { PluginContext } from 'rtk-base/plugin'

const key = 'password'
/** Without what looks alike in print: 0 O 1 l I. */
const letters = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const length = 12

/**
 * The password that this device has while `wap-pswd` is empty: made once, of random numbers, and kept in the protected store, so that a
 * factory reset keeps it as a label would. No two devices have the same.
 */
export async function devicePassword({ store }: Pick<PluginContext, 'store'>): Promise<string> {
  const stored = await store.protected.get(key)
  if (typeof stored === 'string' && stored.length >= length) return stored
  const made = Array.from({ length }, () => letters[randomInt(letters.length)]).join('')
  await store.protected.set(key, made)
  return made
}
