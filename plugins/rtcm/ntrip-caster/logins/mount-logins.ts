/** Logins of a mountpoint: the station's own, or those of the service `mount-source`. */
import type { MountLogin } from 'rtk-base/services'
import type { Asker, Credentials, StoredLogins } from './stored.js'

/** `unasked`: the login was not checked; `unavailable`: it cannot be checked now. */
export type Checked = MountLogin | 'unasked' | 'unavailable' | undefined

export interface MountLogins {
  /** Rovers of the local network need no login. */
  readonly isOpen: boolean
  /** A login that was right before: that costs nothing. */
  known(credentials: Credentials, mount: string): MountLogin | undefined
  /** @returns undefined: wrong, or not for this mountpoint */
  check(credentials: Credentials, mount: string, asker: Asker): Promise<Checked>
  /** Connections of a login that this caster does not have. */
  elsewhere(user: string): Promise<number>
}

/**
 * @param anonymous rovers of the local network need no login although there are logins
 * @param spelt the name of a mountpoint as it is written itself: a login may have been entered before its mountpoint was there
 */
export function stationLogins(
  stored: StoredLogins,
  anonymous: () => boolean,
  spelt: (mount: string) => string,
): MountLogins {
  const isNamed = (mount: string) => (entered: string) => spelt(entered) === mount
  return {
    get isOpen() {
      return anonymous() || stored.isEmpty
    },
    known(credentials, mount) {
      const login = stored.knows(credentials, isNamed(mount))
      return login && { user: credentials.user, most: login.most }
    },
    async check(credentials, mount, asker) {
      const login = await stored.allows(credentials, isNamed(mount), asker)
      return typeof login === 'object' ? { user: credentials.user, most: login.most } : login
    },
    elsewhere: async () => 0,
  }
}
