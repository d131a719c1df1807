import { messageOf } from '../errors.js'

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program or plugin uses it',
  EADDRNOTAVAIL: 'this machine has no such address (yet)',
  EACCES: 'not allowed (ports below 1024 need a privilege)',
  ENOTFOUND: 'the host name is not known',
}

/** Why nothing can listen at an address, in words. */
export const listenReason = (error: unknown): string =>
  reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? messageOf(error)
