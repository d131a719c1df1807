import { join } from 'node:path'
import { packageRoot } from '../../runtime/platform/release.js'
import type { StationProcessOptions } from './process.js'

const checkout = join(packageRoot(), 'runtime', 'tools', 'build', 'bootstrap.mjs')

/**
 * Options of `startStation` for a simulator that starts from slots, as a device does, so that it can be updated.
 * @param factory the program of the slot `f`
 */
export const fromSlots = (factory = checkout): Pick<StationProcessOptions, 'entry' | 'env'> => ({
  entry: join(packageRoot(), 'build', 'test', 'harness', 'children', 'slots-service.js'),
  env: { FACTORY: factory },
})
