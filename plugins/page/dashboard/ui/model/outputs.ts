/** Every way on which corrections leave the station, and the rovers on it. Pure. */
import { at, type Json, listAt, numberAt, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { type Push, roversOf, toneOf } from '../../../../../runtime/lib/page/ui/station/links.js'
import { type OutputFact, type OutputName, outputsOf } from '../../../../../runtime/lib/page/ui/station/outputs.js'

/** `unset`: nobody has set it up, so nothing is wrong with it. `down`: it is wanted and does not work now. `waiting`: it will try. */
export type OutputState = 'on' | 'down' | 'waiting' | 'off' | 'unset'

export interface OutputRow {
  readonly output: OutputName
  readonly state: OutputState
  /** The parameter of its switch, 1 on, 0 off; without one it has a page of its own. */
  readonly parameter?: string
  /** Where it is set up: place in the address of the page. */
  readonly to?: string
  /** The rovers of a local output. */
  readonly rovers?: number
}

const isOff = ({ state }: { state: string }) => state === 'off'
type Look = (document: Json, state: OutputFact['state']) => Omit<OutputRow, 'output'>

const count = (document: Json, via: string) => roversOf(document).filter((one) => one.via === via).length
/** An output whose settings are its switch: without them it is off. */
const setIn =
  (to: string): Look =>
  (_document, state) => ({ state: state === 'off' ? 'unset' : state, to })

const looks: Readonly<Record<OutputName, Look>> = {
  udp: (document, state) => ({ state, parameter: 'udp-en', rovers: count(document, 'udp') }),
  // The list of rovers has the newest only.
  caster: (document, state) => ({
    state,
    parameter: 'ntrip-caster-en',
    rovers: numberAt(document, 'ntrip.caster.connected') ?? 0,
  }),
  server: (document, state) => {
    const pushes = listAt<Push>(document, 'ntrip.server')
    // Without corrections to send there is nothing wrong with a caster.
    const isRefused = pushes.some((one) => toneOf(one.state) === 'broken')
    return { state: pushes.length === 0 ? 'unset' : state === 'down' && !isRefused ? 'waiting' : state }
  },
  mqtt: (document, state) => {
    const isSet = textAt(document, 'mqtt.host') !== ''
    return isSet ? { state, parameter: 'mqtt-en' } : { state: 'unset', to: 'settings?find=mqtt' }
  },
  tcp: (document, state) => ({
    ...setIn('settings?find=rtcm-tcp')(document, state),
    ...(state === 'on' && { rovers: count(document, 'tcp') }),
  }),
  serial: setIn('settings?find=rtcm-serial'),
}

/** Outputs of running plugins. */
export const outputRows = (document: Json): readonly OutputRow[] =>
  outputsOf(document).map(({ output, state }) => ({ output, ...looks[output](document, state) }))

/** Casters that confirm the stream, of those switched on. */
export function castersOf(document: Json): { readonly good: number; readonly wanted: number } {
  const wanted = listAt<Push>(document, 'ntrip.server').filter((one) => !isOff(one))
  return { good: wanted.filter(({ state }) => toneOf(state) === 'good').length, wanted: wanted.length }
}

/** The state of all casters that are switched on; undefined if they differ. */
export function pushStateOf(document: Json): string | undefined {
  const states = new Set(
    listAt<Push>(document, 'ntrip.server')
      .filter((one) => !isOff(one))
      .map(({ state }) => state),
  )
  return states.size === 1 ? [...states][0] : undefined
}

/** MQTT with a broker that is switched on: only then is a missing connection a fault. */
export const isMqttWanted = (document: Json): boolean =>
  at(document, 'mqtt.state') !== undefined &&
  textAt(document, 'mqtt.host') !== '' &&
  textAt(document, 'mqtt.state.link') !== 'disabled'
