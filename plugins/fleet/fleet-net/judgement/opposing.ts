/** Which neighbours oppose the announced position of a base, and when they did last. Pure. */
import { enu } from 'rtk-base/gnss'
import type { Ecef, Enu } from 'rtk-base/services'
import type { StoredVector } from '../store/store.js'

/**
 * A neighbour opposes if its fixed vector puts the base nearer to the corrected position than to the announced one.
 * @param base `arp`: announced, ECEF metres; `offset`: corrected minus announced, metres
 * @param vectors of this base, against the positions that are announced now
 * @param wrong neighbours that are wrong themselves: they do not count
 * @returns the time of the newest such vector of each, UTC seconds
 */
export function opposing(
  { serial, arp, offset }: { serial: string; arp: Ecef; offset: Enu },
  vectors: readonly StoredVector[],
  wrong: ReadonlySet<string>,
): number[] {
  const newest = new Map<string, number>()
  const least = (offset.east ** 2 + offset.north ** 2 + offset.up ** 2) / 2
  for (const { one, other, status, measured, oneArp, otherArp, t_s } of vectors) {
    const neighbour = one === serial ? other : one
    if (status !== 'fixed' || wrong.has(neighbour)) continue
    const [sign, there] = one === serial ? [-1, otherArp] : [1, oneArp]
    const own = enu(arp, {
      x: there.x + sign * measured.x,
      y: there.y + sign * measured.y,
      z: there.z + sign * measured.z,
    })
    const along = own.east * offset.east + own.north * offset.north + own.up * offset.up
    if (along > least) newest.set(neighbour, Math.max(t_s, newest.get(neighbour) ?? 0))
  }
  return [...newest.values()]
}
