/** Identifies the receiver and its port in use. */
import type { UbxDialog } from '../link/ubx-dialog.js'
import * as ubx from '../ubx/index.js'
import { type Firmware, firmwareOf } from './firmware.js'

export interface Answerer {
  /** `ZED-F9P`; '': the firmware does not name it. */
  module: string
  firmware: Firmware
  /** The port of the receiver in use; undefined while unknown. */
  port: ubx.PortName | undefined
}

/** Asks for version, unique ID and port. The decoder gets version and unique ID too. Undefined: no answer. */
export async function whoIsThere(dialog: UbxDialog): Promise<Answerer | undefined> {
  const version = await dialog.poll(ubx.monVer)
  if (!version) return undefined
  await dialog.poll(ubx.secUniqId)
  const identity = ubx.decodeIdentity(version)
  return { module: identity?.module ?? '', firmware: firmwareOf(identity), port: await ownPort(dialog) }
}

/** Header and checksum of a poll, the only bytes that are sent between two readings of the counters. */
const poll_bytes = 8

/** The port whose receive counter grows with our polls; the counter of a radio's port grows differently. */
async function ownPort(dialog: UbxDialog): Promise<ubx.PortName | undefined> {
  const counters = async () => {
    const payload = await dialog.poll(ubx.monComms)
    const comms = payload && ubx.decode(ubx.monComms, payload)
    return new Map(comms?.blocks.map(({ portId, rxBytes }) => [portId, rxBytes]))
  }
  const before = await counters()
  const after = await counters()
  const [own] = [...after]
    .map(([portId, bytes]) => ({ portId, by: bytes - (before.get(portId) ?? bytes) }))
    .filter(({ by }) => by > 0)
    .sort((p, q) => Math.abs(p.by - poll_bytes) - Math.abs(q.by - poll_bytes))
  return own && ubx.portNames[own.portId]
}
