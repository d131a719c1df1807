/** The procedure as a diagram, and its entries in the flight record. Pure. */

import type { Values } from '../../../../../../runtime/lib/page/ui/station/document.js'

export interface ProcedureReport {
  readonly state: string
  readonly since: number
  readonly states: readonly { readonly name: string; readonly status: string; readonly waits: string }[]
  readonly table: readonly { readonly from: string; readonly on: string; readonly to: string }[]
}

export interface Box {
  readonly name: string
  readonly x: number
  readonly y: number
}

/** Columns and rows of the states: the usual way goes down the middle. */
const places: Readonly<Record<string, readonly [column: number, row: number]>> = {
  offline: [0, 0],
  stalled: [0, 1],
  identify: [1, 0],
  configure: [1, 1],
  acquire: [1, 2],
  initial: [1, 3],
  survey: [0, 3],
  idle: [0, 4],
  base: [1, 4],
  accept: [1, 5],
  fixed: [1, 6],
  verify: [2, 2],
  fault: [2, 1],
  moved: [2, 4],
}
const aside = 6
export const box = { width: 108, height: 40, columnGap: 46, rowGap: 28 }

/** Unknown new states are placed below. */
export function layout(names: readonly string[]): { boxes: readonly Box[]; width: number; height: number } {
  let spare = 0
  const boxes = names.map((name) => {
    const [column, row] = places[name] ?? [spare++ % 3, 7]
    return { name, x: column * (box.width + box.columnGap), y: row * (box.height + box.rowGap) }
  })
  const right = Math.max(...boxes.map(({ x }) => x), 0) + box.width
  const bottom = Math.max(...boxes.map(({ y }) => y), 0) + box.height
  return { boxes, width: right, height: bottom }
}

export interface Edge {
  readonly from: string
  readonly to: string
  readonly events: readonly string[]
}

/** One line from one state to another, with all events that go that way; those of every state (`any`) are told in words. */
export function edgesOf(table: ProcedureReport['table']): readonly Edge[] {
  const edges = new Map<string, Edge>()
  for (const { from, on, to } of table) {
    if (from === 'any' || from === to) continue
    const key = `${from} ${to}`
    edges.set(key, { from, to, events: [...(edges.get(key)?.events ?? []), on] })
  }
  return [...edges.values()]
}

/** An SVG path from the edge of one box to that of the other. Two that go both ways lie beside each other; none goes through a box of its column. */
export function way(from: Box, to: Box): string {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const point = (x: number, y: number) => `${x.toFixed(1)} ${y.toFixed(1)}`
  if (dx === 0 && Math.abs(dy) > box.height + box.rowGap) {
    // Up on the right, down on the left.
    const side = dy < 0 ? 1 : -1
    const x = from.x + (dy < 0 ? box.width : 0)
    const middle = box.height / 2 + side * -6
    return `M${point(x, from.y + middle)}Q${point(x + side * box.columnGap, (from.y + to.y) / 2 + middle)} ${point(x, to.y + middle)}`
  }
  const length = Math.hypot(dx, dy) || 1
  const [aside_x, aside_y] = [(-dy / length) * aside, (dx / length) * aside]
  const until = Math.min(box.width / 2 / Math.abs(dx || 1e-9), box.height / 2 / Math.abs(dy || 1e-9))
  const x = from.x + box.width / 2 + aside_x
  const y = from.y + box.height / 2 + aside_y
  return `M${point(x + dx * until, y + dy * until)}L${point(x + dx * (1 - until), y + dy * (1 - until))}`
}

/** Transitions from a state: its own rows before those of `any`. */
export function waysOut({ table }: ProcedureReport, state: string): readonly { on: string; to: string }[] {
  const own = table.filter(({ from }) => from === state)
  const others = table.filter(({ from, on }) => from === 'any' && !own.some((row) => row.on === on))
  return [...own, ...others].filter(({ to }) => to !== state).map(({ on, to }) => ({ on, to }))
}

export interface Transition {
  /** UTC, milliseconds. */
  readonly t: number
  readonly what: 'procedure' | 'gate' | 'run' | 'stop'
  readonly text: string
  /** Of a closed gate: its reason, with code and values. */
  readonly values?: Values
}

interface RecordLine {
  t?: number
  run?: { version?: string; text?: string }
  stop?: unknown
  set?: Record<string, Values | null>
}

/** The lines of `GET /record` that are about the procedure and the gate, newest first. */
export function transitionsOf(lines: string, most: number): readonly Transition[] {
  const found: Transition[] = []
  for (const text of lines.split('\n')) {
    const entry = parsed(text)
    if (entry?.t === undefined) continue
    const { t, run, stop, set } = entry
    if (run) found.push({ t, what: 'run', text: run.text ?? '' })
    if (stop) found.push({ t, what: 'stop', text: '' })
    const status = set?.procedure?.status
    if (typeof status === 'string') found.push({ t, what: 'procedure', text: status })
    const gate = set?.gate
    if (gate?.open === true) found.push({ t, what: 'gate', text: '' })
    else if (gate) found.push({ t, what: 'gate', text: String(gate.reason ?? ''), values: gate })
  }
  return found.slice(-most).reverse()
}

function parsed(text: string): RecordLine | undefined {
  try {
    return text === '' ? undefined : (JSON.parse(text) as RecordLine)
  } catch {
    return undefined
  }
}

/** The latest occurrence of a local time of day, as ISO 8601 in UTC; undefined if invalid. Pure. */
export function lastTime(clock: string, now_ms: number): string | undefined {
  const found = /^([01]\d|2[0-3]):([0-5]\d)/.exec(clock)
  if (!found) return undefined
  const moment = new Date(now_ms)
  moment.setHours(Number(found[1]), Number(found[2]), 0, 0)
  if (moment.getTime() > now_ms) moment.setDate(moment.getDate() - 1)
  return `${moment.toISOString().slice(0, 16)}Z`
}
