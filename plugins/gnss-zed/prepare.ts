/**
 * What the service asks and sets at each new link, as far as it may write: who is there, which of its ports we are on,
 * and the few messages without which nothing can be shown. All in RAM, and only what differs.
 */
import { type Firmware, firmwareOf } from './configure/firmware.js'
import type { Dialog } from './link/dialog.js'
import * as ubx from './ubx/index.js'

export interface Prepared {
  identity: ubx.Identity | undefined
  firmware: Firmware
  uniqueId: string | undefined
  /** Which port of the receiver we speak through; undefined while it can't be told. */
  port: ubx.PortName | undefined
  /** Messages that the receiver refused to switch on. */
  refused: string[]
}

/** Needed, and known to every F9P firmware; they go in one message. */
const needed = ['NAV-PVT', 'NAV-HPPOSECEF', 'NAV-STATUS', 'NAV-SAT'] as const
/** One refused key refuses a whole message, so each of these goes in one of its own. */
const optional = ['MON-RF', 'NAV-EOE'] as const

/** Undefined when the receiver does not answer. */
export async function prepare(dialog: Dialog): Promise<Prepared | undefined> {
  const version = await dialog.poll(ubx.monVer)
  if (!version) return undefined
  const identity = ubx.decodeIdentity(version)
  const unique = await dialog.poll(ubx.secUniqId)
  const port = await ownPort(dialog)
  return {
    identity,
    firmware: firmwareOf(identity),
    uniqueId: unique && ubx.secUniqId.decode(unique)?.id,
    port,
    refused: port ? await enable(dialog, port) : [],
  }
}

/** Header and checksum of a poll, which is all that we send between two looks. */
const poll_bytes = 8

/** The port whose receive counter goes up while we ask; a radio on another one makes that count up as well, but otherwise. */
async function ownPort(dialog: Dialog): Promise<ubx.PortName | undefined> {
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

/** Switches on what is off. @returns what was refused */
async function enable(dialog: Dialog, port: ubx.PortName): Promise<string[]> {
  const refused: string[] = []
  for (const group of [needed, ...optional.map((message) => [message] as const)]) {
    const keys = group.map((message) => ubx.messageOutKey(message, port))
    const values = await dialog.values(keys, 'ram')
    const off = keys.filter((key) => values === undefined || values === 'refused' || !values.get(key))
    if (off.length === 0) continue
    const on = off.map((key): ubx.ConfigPair => [key, 1])
    if ((await dialog.set(on, ubx.layerBit.ram)) !== true) refused.push(...group)
  }
  return refused
}
