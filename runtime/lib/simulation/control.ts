/** The part of the service `simulated-receiver` that is the same for every make: antenna, sky, line and faults. */
import { roundTo } from 'rtk-base/gnss'
import type { SimulatedReceiver } from 'rtk-base/services'
import type { SimulatedDevice } from './device.js'
import type { ReceiverLine } from './line.js'
import { lowest_deg } from './model.js'

type OwnMembers =
  | ('truth' | 'corrections' | 'wrongFix' | 'nak' | 'ignore' | 'dropAcks')
  | ('set' | 'flash' | 'value' | 'received' | 'describe')

/** Everything but what depends on the settings of a make. */
export function deviceControl(line: ReceiverLine<SimulatedDevice>): Omit<SimulatedReceiver, OwnMembers> {
  const { device } = line
  const { model, faults } = device
  return {
    port: line,
    move: (east, north, up, over_s = 0) => model.move(east, north, up, over_s),
    sway: (by, period_s = 2, over_s = Number.POSITIVE_INFINITY) => model.sway(by, period_s, over_s),
    still: () => model.stopMoving(),
    noise: (name) => model.noise(name),
    loseLock: (which, away_s = 0) => model.loseLock(which, away_s),
    slip: (which, cycles = 1, silent = false) => model.slip(which, cycles, silent),
    satellites: (most, mask_deg) => {
      model.limit = { satellites: most ?? Number.POSITIVE_INFINITY, mask_deg: mask_deg ?? lowest_deg }
    },
    jam: (loss_db, band) => {
      for (const each of ['L1', 'L2'] as const) {
        if (band === undefined || band === each) model.jam_db[each] = Math.max(0, loss_db)
      }
    },
    antenna: (state) => {
      model.antenna = state
    },
    unplug: () => line.unplug(),
    replug: () => line.replug(),
    deafAbove: (baud) => {
      line.deafAbove_baud = baud
    },
    restart: (cold = false) => device.reset(cold),
    spoof: (state) => {
      faults.spoofing = state
    },
    wrongReference: (error_m) => {
      faults.wrongReference_m = error_m
    },
    silence: (on) => {
      faults.silent = on
    },
    corrupt: (frames) => {
      faults.corruptFrames = frames
    },
  }
}

/** State of the device and its line, as parts of a sentence. @param own parts of a make, such as the mode of the receiver */
export function deviceState(line: ReceiverLine<SimulatedDevice>, ...own: readonly string[]): string[] {
  const { model, faults } = line.device
  const { offset, antenna, jam_db, limit, surroundings } = model
  const parts = [
    line.plugged ? 'plugged' : 'unplugged',
    `moved E ${roundTo(offset.east, 4)} N ${roundTo(offset.north, 4)} U ${roundTo(offset.up, 4)} m`,
    `antenna ${antenna}`,
    jam_db.L1 === jam_db.L2 ? `jam ${jam_db.L1} dB` : `jam L1 ${jam_db.L1} dB L2 ${jam_db.L2} dB`,
    ...own,
  ]
  if (surroundings.name !== 'quiet') parts.push(`${surroundings.name} surroundings`)
  if (limit.satellites < Number.POSITIVE_INFINITY || limit.mask_deg > lowest_deg)
    parts.push(`receives ${limit.satellites} satellites above ${limit.mask_deg}°`)
  if (line.deafAbove_baud > 0) parts.push(`deaf above ${line.deafAbove_baud} baud`)
  if (faults.spoofing !== 1) parts.push(`spoof ${faults.spoofing}`)
  if (faults.silent) parts.push('silent')
  if (faults.wrongReference_m !== 0) parts.push(`1005 wrong by ${faults.wrongReference_m} m`)
  return parts
}
