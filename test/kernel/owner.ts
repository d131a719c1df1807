import type { Owner } from '../../runtime/kernel/instance/attribution.js'

/** A plugin as far as its callbacks need one. @param failures gets what is reported of it */
export const ownerOf = (name: string, failures: string[] = []): Owner => ({
  ...{ name, activity: 0, ended: false },
  failed: (error, what) => failures.push(`${name} ${what}: ${(error as Error).message}`),
  leftBehind: (error) => failures.push(`${name} left behind: ${(error as Error).message}`),
  own: (_, dispose) => dispose,
})
