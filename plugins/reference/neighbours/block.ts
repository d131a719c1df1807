/** `gnss.neighbours` of the status document, and the metrics. */
import { distance, roundTo } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { GnssNeighbours } from 'rtk-base/schemas'
import { obstacleOf, twinOf } from './comparison.js'
import type { Curves } from './curve.js'
import { isOff } from './finding.js'
import { sourceOf } from './setting.js'
import { sizeOf } from './vector.js'
import type { Member, NeighbourWatch } from './watch.js'

const axes = ['east', 'north', 'up'] as const
const mm = (metres: number) => roundTo(metres, 4)

export function blockOf(watch: NeighbourWatch, curves: Curves, now_ms: number): GnssNeighbours {
  const { effect, finding, members, state, text } = watch
  const { east, north, up } = finding.offset
  const offset = { east: mm(east), north: mm(north), up: mm(up) }
  return { state, effect, text, offset, list: members.map((member) => row(member, watch, curves, now_ms)) }
}

function row(member: Member, watch: NeighbourWatch, curves: Curves, now_ms: number): GnssNeighbours['list'][number] {
  const { neighbour, setting, feed } = member
  const { arp, name, newest } = neighbour
  const link = feed.state(neighbour.isSilent(now_ms))
  const own = watch.own.arp
  return {
    ...{ name, source: sourceOf(setting), link: link.state, epochs: neighbour.recording.epochs },
    dist: own && arp ? Math.round(distance(own, arp)) : 0,
    status: newest?.status ?? 'none',
    ...{ east: mm(newest?.local.east ?? 0), north: mm(newest?.local.north ?? 0), up: mm(newest?.local.up ?? 0) },
    acc: newest ? mm(sizeOf(newest.sigma)) : 0,
    age: newest ? Math.floor((now_ms - newest.at_ms) / 1_000) : 0,
    text: link.text || textOf(member, watch, now_ms),
    moved: curves.moveOf(sourceOf(setting)),
  }
}

function textOf({ neighbour }: Member, watch: NeighbourWatch, now_ms: number): string {
  const all = watch.members.map((one) => one.neighbour)
  const twin = twinOf(neighbour, all)
  const reason =
    neighbour.failure ||
    obstacleOf(neighbour, watch.own, now_ms) ||
    (twin < 0 ? '' : `it is at the same position as number ${twin + 1} of the list: one of them is enough`)
  const { newest } = neighbour
  if (reason !== '' || !newest || !isOff(newest)) return reason
  const size = `${sizeOf(newest.local).toFixed(2)} m`
  if (watch.state === 'agrees')
    return `its announced position is off by ${size}: the other neighbours confirm this station`
  return watch.finding.against.includes(neighbour.name)
    ? `it contradicts the position of this station by ${size}`
    : `it differs from this station by ${size}: which of the two is wrong is not known`
}

export function addMetrics(ctx: PluginContext, watch: NeighbourWatch): void {
  ctx.metrics.gauge({
    name: 'neighbour_offset_meters',
    help: 'Measured minus announced vector to a neighbouring base.',
    labels: ['neighbour', 'axis'],
    collect: (gauge) => {
      for (const { neighbour } of watch.members)
        for (const axis of axes)
          if (neighbour.newest) gauge.set(neighbour.newest.local[axis], { neighbour: neighbour.name, axis })
    },
  })
  ctx.metrics.gauge({
    name: 'neighbour_up',
    help: 'Whether the stream of a neighbouring base arrives: 1 or 0.',
    labels: ['neighbour'],
    collect: (gauge) => {
      const now_ms = ctx.clock.monotonic()
      for (const { neighbour } of watch.members)
        gauge.set(neighbour.isSilent(now_ms) ? 0 : 1, { neighbour: neighbour.name })
    },
  })
}
