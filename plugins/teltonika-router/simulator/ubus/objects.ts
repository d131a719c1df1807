import type { Device } from '../device/device.js'
import { fileObject } from './file-object.js'
import { gsmObjects } from './gsm-objects.js'
import { networkObjects } from './network-objects.js'
import type { Objects, UbusObject } from './object.js'
import { sessionObject } from './session-object.js'
import { systemObjects } from './system-objects.js'
import { uciObject } from './uci-object.js'
import { vuciObjects } from './vuci-objects.js'

const all: Objects = {
  session: sessionObject,
  file: fileObject,
  uci: uciObject,
  ...systemObjects,
  ...networkObjects,
  ...gsmObjects,
  ...vuciObjects,
}

/** Undefined: this router does not have it, or not now. */
export function findObject(device: Device, name: string): UbusObject | undefined {
  const object = Object.hasOwn(all, name) ? all[name] : undefined
  if (object === undefined || device.faults.isMissing(name)) return undefined
  return object.present === undefined || object.present(device) ? object : undefined
}
