/** Patterns of the LEDs in one table: the first matching row of each LED is its pattern. */
import type { BaseStateName, MqttLinkState } from 'rtk-base/schemas'
import type { MqttLink } from 'rtk-base/services'

/** Colour 0xRRGGBB for a number of seconds; repeated forever. */
export interface Step {
  v: number
  t: number
}
export type Pattern = readonly Step[]
export const ledNames = ['red', 'green', 'rgb'] as const
export type LedName = (typeof ledNames)[number]

/** The input, from the station's services; undefined: unknown. */
export interface Facts {
  base: BaseStateName | undefined
  /** The status of the GNSS procedure. */
  status: string | undefined
  /** Number of current errors. */
  errors: number
  /** To the broker. */
  link: MqttLinkState | undefined
  via: MqttLink['via']
}

const off: Pattern = [{ v: 0, t: 1 }]
const on = (colour: number): Pattern => [{ v: colour, t: 1 }]
const blink = (colour: number, on_s: number, off_s: number): Pattern => [
  { v: colour, t: on_s },
  { v: 0, t: off_s },
]

const red = 0xff0000
const green = 0x00ff00
const blue = 0x0000ff
const cyan = 0x00ffff
const yellow = 0xffff00
const violet = 0xff00ff

type Row = readonly [what: string, holds: (facts: Facts) => boolean, pattern: Pattern]

export const table: Readonly<Record<LedName, readonly Row[]>> = {
  red: [
    ['the antenna is not at its reference position', ({ status }) => status === 'moved', blink(red, 0.25, 0.25)],
    ['no RTCM goes out', ({ base }) => base === 'degraded', on(red)],
    ['RTCM goes out, but something is wrong', ({ errors }) => errors > 0, blink(red, 0.1, 2.9)],
  ],
  green: [
    ['RTCM goes out', ({ base }) => base === 'ready', on(green)],
    ['a survey-in runs', ({ base }) => base === 'surveying', blink(green, 1, 1)],
    ['starting', ({ base }) => base === 'starting', blink(green, 0.2, 1.8)],
  ],
  rgb: [
    ['an update is being installed', ({ base }) => base === 'updating', blink(violet, 0.25, 0.25)],
    ['connected through the cellular router', ({ link, via }) => link === 'up' && via === 'cellular', on(cyan)],
    ['connected through WiFi', ({ link, via }) => link === 'up' && via === 'sta', on(blue)],
    ['connected', ({ link }) => link === 'up', on(green)],
    ['connecting', ({ link }) => link === 'connecting' || link === 'renewing', blink(yellow, 0.5, 0.5)],
    ['not connected', ({ link }) => link === 'down', blink(red, 0.5, 1.5)],
  ],
}

export const patternOf = (led: LedName, facts: Facts): Pattern =>
  table[led].find(([, holds]) => holds(facts))?.[2] ?? off
