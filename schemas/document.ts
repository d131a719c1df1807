/** The status document: its sections, and the bitmask that selects parts of it, in both published assignments. */

/** Top-level names of the status document, in the order of the specification. */
export const documentOrder = ['esp', 'gnss', 'base', 'eth', 'wap', 'sta', 'udp', 'mqtt', 'router', 'modem'] as const

/** The value at a path such as `gnss.state.status` in the status document; undefined if missing. */
export const valueAt = (document: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (part, name) => (typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[name] : undefined),
      document,
    )

/** Bit assignment of a mask: 1 from the HTTP reference, 2 from the MQTT reference. */
export type MaskAssignment = 1 | 2

/** A decoded mask. A part is emitted if the mask selects both its class and its granularity. */
export interface MaskSelection {
  readonly static: boolean
  readonly runtime: boolean
  readonly config: boolean
  readonly basic: boolean
  readonly all: boolean
}

export const everything = 0xffffffff

interface Bits {
  static: number
  runtime: number
  config: number
  /** Absent in assignment 1: a basic part is emitted on its class bit alone. */
  basic?: number
  all: number
}

const assignments: Record<MaskAssignment, Bits> = {
  1: { static: 0x001, runtime: 0x002, config: 0x004, all: 0x100 },
  2: { runtime: 0x001, static: 0x002, config: 0x004, basic: 0x100, all: 0x200 },
}

export function selectionOf(mask: number, assignment: MaskAssignment): MaskSelection {
  const bits = assignments[assignment]
  const has = (bit: number) => Math.floor(mask / bit) % 2 === 1
  return {
    static: has(bits.static),
    runtime: has(bits.runtime),
    config: has(bits.config),
    // Every granularity includes the basic one: details alone are meaningless.
    basic: bits.basic === undefined || has(bits.basic) || has(bits.all),
    all: has(bits.all),
  }
}

/**
 * Parses the bare query of `GET /get-info`: decimal or hexadecimal, with an optional trailing `=`. Empty selects everything.
 * Undefined if invalid.
 */
export function parseMask(query: string): number | undefined {
  const text = query.replace(/=$/, '')
  if (text === '') return everything
  if (!/^(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,16})$/.test(text)) return undefined
  const mask = Number(text)
  return mask <= everything ? mask : undefined
}
