/** Which ways out of a station are set up. Pure. */
import { at, errorsOf, type Json, listAt, numberAt, textAt } from './document.js'
import { toneOf } from './links.js'

export type OutputName = 'udp' | 'caster' | 'server' | 'mqtt' | 'tcp' | 'serial'
export interface OutputFact {
  readonly output: OutputName
  /** `down`: it is wanted and does not work now. */
  readonly state: 'on' | 'down' | 'off'
}

function stateOf(all: readonly string[]): OutputFact['state'] {
  const wanted = all.filter((state) => state !== 'off')
  if (wanted.length === 0) return 'off'
  return wanted.some((state) => toneOf(state) === 'good' || state === 'accepted') ? 'on' : 'down'
}

/** The outputs of running plugins. */
export function outputsOf(document: Json): readonly OutputFact[] {
  const states = (path: string) => listAt<{ state: string }>(document, path).map(({ state }) => state)
  const port = (path: string) => (numberAt(document, path) ?? 0) > 0
  const facts: OutputFact[] = []
  const add = (output: OutputName, block: string, state: () => OutputFact['state']) => {
    if (at(document, block) !== undefined) facts.push({ output, state: state() })
  }
  // Its block says what is wanted; that the port is not there is an error.
  const isUdpDown = errorsOf(document).some(({ code }) => code === 'udp')
  add('udp', 'udp', () => (at(document, 'udp.enabled') === true ? (isUdpDown ? 'down' : 'on') : 'off'))
  add('caster', 'ntrip.caster', () =>
    at(document, 'ntrip.caster.enabled') === true ? (port('ntrip.caster.port') ? 'on' : 'down') : 'off',
  )
  add('server', 'ntrip.server', () => stateOf(states('ntrip.server')))
  add('mqtt', 'mqtt.state', () => {
    const link = textAt(document, 'mqtt.state.link')
    return link === 'disabled' || textAt(document, 'mqtt.host') === '' ? 'off' : stateOf([link])
  })
  add('tcp', 'rtcm_tcp', () => (port('rtcm_tcp.port') ? 'on' : stateOf(states('rtcm_tcp.push'))))
  add('serial', 'rtcm_serial', () => {
    const state = textAt(document, 'rtcm_serial.state')
    return state === 'open' ? 'on' : state === 'waiting' ? 'down' : 'off'
  })
  return facts
}
