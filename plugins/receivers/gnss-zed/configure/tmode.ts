/** The time mode of the receiver (CFG-TMODE) as a target, both ways. */
import { geodeticToEcef, joinCm, roundEcef, splitCm } from 'rtk-base/gnss'
import type { Ecef, ReceiverTarget } from 'rtk-base/services'
import type { ConfigPair, ConfigValue } from '../ubx/config.js'
import { keyId } from '../ubx/keys.js'

const key = (name: string) => keyId(`CFG-TMODE-${name}`)
const axes = ['x', 'y', 'z'] as const
const ecefKeys = axes.map((axis) => {
  const name = `ECEF_${axis.toUpperCase()}`
  return { axis, cm: key(name), hp: key(`${name}_HP`) }
})
/** LLH in 1e-7° and 1e-9°, or cm and 0.1 mm: the fine part is a hundredth of the coarse one in all three. */
const llhKeys = (['LAT', 'LON', 'HEIGHT'] as const).map((name) => ({ coarse: key(name), fine: key(`${name}_HP`) }))

/** Every key that decides on the mode and the reference position. */
export const tmodeKeys: readonly number[] = [
  key('MODE'),
  key('POS_TYPE'),
  key('FIXED_POS_ACC'),
  ...ecefKeys.flatMap(({ cm, hp }) => [cm, hp]),
  ...llhKeys.flatMap(({ coarse, fine }) => [coarse, fine]),
]

/** The keys to write, all in one message: the receiver applies mode and position together. */
export function tmodePairs(target: ReceiverTarget): ConfigPair[] {
  if (target.mode === 'rover') return [[key('MODE'), 0]]
  const position = ecefKeys.flatMap(({ axis, cm, hp }): ConfigPair[] => {
    const split = splitCm(target.arp[axis])
    return [
      [cm, split.cm],
      [hp, split.hp],
    ]
  })
  return [
    [key('MODE'), 2],
    [key('POS_TYPE'), 0],
    ...position,
    [key('FIXED_POS_ACC'), Math.min(0xffffffff, Math.max(1, Math.round(target.acc_m * 1e4)))],
  ]
}

/** The receiver's current target. */
export function targetOf(values: ReadonlyMap<number, ConfigValue>): ReceiverTarget | { mode: 'survey-in' } {
  const value = (id: number) => Number(values.get(id) ?? 0)
  const mode = value(key('MODE'))
  if (mode === 1) return { mode: 'survey-in' }
  if (mode !== 2) return { mode: 'rover' }
  return { mode: 'fixed', arp: positionOf(value), acc_m: value(key('FIXED_POS_ACC')) / 1e4 }
}

function positionOf(value: (id: number) => number): Ecef {
  if (value(key('POS_TYPE')) === 0) {
    const [x, y, z] = ecefKeys.map(({ cm, hp }) => joinCm({ cm: value(cm), hp: value(hp) }))
    return { x, y, z }
  }
  const [lat, lon, height] = llhKeys.map(({ coarse, fine }) => value(coarse) * 100 + value(fine))
  return roundEcef(geodeticToEcef({ lat: lat / 1e9, lon: lon / 1e9, alt: height / 1e4 }))
}
