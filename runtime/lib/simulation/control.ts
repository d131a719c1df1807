/** The part of the service `simulated-receiver` that is the same for every make: antenna, sky and line. */
import { roundTo } from 'rtk-base/gnss'
import type { SimulatedReceiver } from 'rtk-base/services'
import type { ReceiverLine } from './line.js'
import { lowest_deg, type Model } from './model.js'

type ModelMembers = 'move' | 'sway' | 'still' | 'noise' | 'loseLock' | 'slip' | 'satellites' | 'jam' | 'antenna'
type LineMembers = 'unplug' | 'replug' | 'deafAbove'

/** Faults of the model and of the line. */
export function modelControl(model: Model, line: ReceiverLine): Pick<SimulatedReceiver, ModelMembers | LineMembers> {
  return {
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
  }
}

/** State of the model and the line, as parts of a sentence. @param mode of the receiver, always included */
export function modelState({ offset, antenna, jam_db, limit, surroundings }: Model, line: ReceiverLine, mode: string) {
  const parts = [
    line.plugged ? 'plugged' : 'unplugged',
    `moved E ${roundTo(offset.east, 4)} N ${roundTo(offset.north, 4)} U ${roundTo(offset.up, 4)} m`,
    `antenna ${antenna}`,
    jam_db.L1 === jam_db.L2 ? `jam ${jam_db.L1} dB` : `jam L1 ${jam_db.L1} dB L2 ${jam_db.L2} dB`,
    mode,
  ]
  if (surroundings.name !== 'quiet') parts.push(`${surroundings.name} surroundings`)
  if (limit.satellites < Number.POSITIVE_INFINITY || limit.mask_deg > lowest_deg)
    parts.push(`receives ${limit.satellites} satellites above ${limit.mask_deg}°`)
  if (line.deafAbove_baud > 0) parts.push(`deaf above ${line.deafAbove_baud} baud`)
  return parts
}
