/** The files that a client may want to read, and a temporary folder that holds what it writes. */

import { type Firmware, type Identity, withColons } from './identity.js'

/** All files in /tmp together: the RAM disk of a small router. */
const capacity_bytes = 48 * 1024 * 1024

export class Files {
  readonly #fixed: () => Record<string, string>
  readonly #written = new Map<string, Buffer>()

  constructor(identity: () => Identity, firmware: () => Firmware) {
    this.#fixed = () => {
      const { name, serial, mac, hwver, batch } = identity()
      const { version } = firmware()
      return {
        '/etc/version': `${version}\n`,
        '/etc/openwrt_release': `DISTRIB_ID='OpenWrt'\nDISTRIB_RELEASE='21.02.0'\n`,
        '/sys/mnf_info/name': name,
        '/sys/mnf_info/serial': serial,
        '/sys/mnf_info/mac': mac,
        '/sys/mnf_info/hwver': hwver,
        '/sys/mnf_info/batch': batch,
        '/sys/class/net/br-lan/address': `${withColons(mac).toLowerCase()}\n`,
      }
    }
  }

  read(path: string): Buffer | undefined {
    const fixed = this.#fixed()
    return Object.hasOwn(fixed, path) ? Buffer.from(fixed[path] ?? '') : this.#written.get(path)
  }

  /** @returns why it cannot be written */
  write(path: string, data: Buffer, append = false): string | undefined {
    if (path === '/dev/null') return undefined
    if (!/^\/(tmp|var)\/[^/\0]/.test(path)) return 'Read-only file system'
    const before = append ? (this.#written.get(path) ?? Buffer.alloc(0)) : Buffer.alloc(0)
    const others = [...this.#written].reduce((sum, [name, bytes]) => (name === path ? sum : sum + bytes.length), 0)
    if (others + before.length + data.length > capacity_bytes) return 'No space left on device'
    this.#written.set(path, Buffer.concat([before, data]))
    return undefined
  }

  remove(path: string): boolean {
    return this.#written.delete(path)
  }

  list(folder: string): string[] {
    const prefix = folder.endsWith('/') ? folder : `${folder}/`
    const names = [...Object.keys(this.#fixed()), ...this.#written.keys()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length).split('/')[0] ?? '')
    return [...new Set(names)].sort()
  }

  /** /tmp is in memory. */
  clear(): void {
    this.#written.clear()
  }
}
