import { BlockList, isIP, isIPv6 } from 'node:net'
import { RtkError } from '../../errors.js'
import { normalAddress } from './address.js'

const family = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** Addresses and prefixes that the operator named in an option. */
export class NamedAddresses {
  readonly #list = new BlockList()
  readonly isEmpty: boolean

  /** @throws RTK_ERR_VARIANT */
  constructor(named: readonly string[], option: string) {
    this.isEmpty = named.length === 0
    for (const text of named) {
      const [address = '', bits] = text.split('/')
      const longest = isIPv6(address) ? 128 : 32
      const prefix = Number(bits ?? longest)
      if (isIP(address) === 0 || !(prefix >= 0 && prefix <= longest))
        throw new RtkError(
          'RTK_ERR_VARIANT',
          `${option}: "${text}" is neither an address nor a prefix such as 10.0.0.0/8`,
        )
      const plain = normalAddress(address)
      this.#list.addSubnet(plain, prefix, family(plain))
    }
  }

  has(address: string): boolean {
    const plain = normalAddress(address)
    return !this.isEmpty && isIP(plain) !== 0 && this.#list.check(plain, family(plain))
  }
}
