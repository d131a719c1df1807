/** The modules of this package, and of npm, that every plugin gets from the runtime. */
import * as schemas from '../schemas/index.js'
import * as services from '../schemas/services.js'
import * as files from './files.js'
import * as gnss from './lib/gnss/index.js'
import * as image from './lib/image/index.js'
import * as link from './lib/link/index.js'
import * as ntrip from './lib/ntrip/index.js'
import * as page from './lib/page/index.js'
import * as clientBundle from './loader/client-bundle.js'
import type { HostTable } from './loader/host.js'
import { hostPackages } from './platform/host-packages.js'
import * as plugin from './plugin.js'
import * as time from './time.js'

export const hostTable: HostTable = {
  'rtk-base/plugin': () => plugin,
  'rtk-base/files': () => files,
  'rtk-base/time': () => time,
  'rtk-base/services': () => services,
  'rtk-base/schemas': () => schemas,
  'rtk-base/gnss': () => gnss,
  'rtk-base/link': () => link,
  'rtk-base/ntrip': () => ntrip,
  'rtk-base/image': () => image,
  'rtk-base/page': () => page,
  'rtk-base/client-bundle': () => clientBundle,
  ...hostPackages,
}
