/** What a person should know of the receiver: entries of `base.state.errors` that come and go with their cause. */
import type { PluginContext } from 'rtk-base/plugin'
import type { ZedReceiver } from './zed.js'

const look_ms = 1000
/** Shorter interruptions are not worth a message. */
const patience_ms = 10_000

export function watchTrouble(ctx: PluginContext, zed: ZedReceiver): void {
  let dataAt_ms = zed.awake_ms()
  let answerAt_ms = dataAt_ms
  ctx.timers.every(look_ms, () => {
    const now_ms = zed.awake_ms()
    const isUp = zed.link === 'up'
    if (isUp || (zed.ended && zed.heard)) dataAt_ms = now_ms
    // One that sends but never answers: everything behind it would wait without a word. Its time begins with the link.
    if (!isUp || zed.listening || zed.identified) answerAt_ms = now_ms
    if (now_ms - Math.min(dataAt_ms, answerAt_ms) < patience_ms) ctx.errors.clear('gnss-link')
    else
      ctx.errors.raise(
        'gnss-link',
        `no ${isUp ? 'answer' : 'data'} from the receiver at ${zed.portName}: ${adviceOf(zed)}`,
      )

    const { status } = zed.facts.antenna.report
    for (const fault of ['short', 'open'] as const) {
      if (status !== fault) ctx.errors.clear(`antenna-${fault}`)
      else ctx.errors.raise(`antenna-${fault}`, `the antenna is ${fault}: check its cable and connectors${holdOf(zed)}`)
    }
    reportRadio(ctx, zed)
  })
}

const holdOf = (zed: ZedReceiver) =>
  zed.held === 'antenna' ? '; no RTCM goes out until then (option antennaHold)' : ''

/** Interference, feigned satellites, signals that are missing. */
function reportRadio({ errors }: PluginContext, zed: ZedReceiver): void {
  const { radio, signals, antenna } = zed.facts
  if (!radio.jammed) errors.clear('gnss-jammed')
  else {
    const bands = radio.worst.map(({ band }) => band).join(' and ')
    errors.raise(
      'gnss-jammed',
      `strong interference in the ${bands} band: the receiver can hardly work; look for a transmitter, a jammer or a faulty ` +
        'active antenna nearby, gnss.state.rf shows how strong it is',
    )
  }
  if (!radio.spoofed) errors.clear('gnss-spoofed')
  else {
    const held = zed.held === 'spoofed' ? 'no RTCM goes out until that is over (option spoofedHold)' : 'RTCM goes on'
    errors.raise(
      'gnss-spoofed',
      `the receiver reports signals that seem to be feigned (spoofing): ${held}; look for a transmitter or repeater nearby`,
    )
  }
  // An antenna that fails, or a receiver that is away, has an entry of its own.
  const troubles = zed.link === 'up' && !antenna.fails ? signals.troubles(zed.now_ms()) : []
  if (troubles.length === 0) errors.clear('gnss-signals')
  else errors.raise('gnss-signals', troubles.join('; '))
}

function adviceOf(zed: ZedReceiver): string {
  if (zed.link === 'up')
    return 'it sends, but does not answer; check the line to its input, and that its port accepts UBX'
  if (zed.ended) return 'no valid frame was in it; check that the option gnss-zed.port names a recording of a receiver'
  return zed.link === 'offline'
    ? `${zed.linkReason}; check the cable and the option gnss-zed.port; it is opened again as soon as it can be`
    : 'it is open but silent; check the rate (gnss-zed.baud) and what the receiver is configured to send'
}
