/** Errors of the receiver in `base.state.errors`, raised and cleared with their cause. */
import type { PluginContext } from 'rtk-base/plugin'
import { isIdentified } from './document.js'
import type { Observed } from './observed.js'

const look_ms = 1000
/** Shorter interruptions are not worth a message. */
const patience_ms = 10_000

export function watchTrouble(ctx: PluginContext, observed: Observed): void {
  let dataAt_ms = observed.awake_ms()
  let answerAt_ms = dataAt_ms
  ctx.timers.every(look_ms, () => {
    const now_ms = observed.awake_ms()
    const { receiver } = observed
    if (!receiver) {
      dataAt_ms = now_ms
      answerAt_ms = now_ms
      for (const code of codes) ctx.errors.clear(code)
      return
    }
    const { link, place, recording } = receiver
    const isUp = link === 'up'
    if (isUp || (recording?.ended && !recording.isEmpty)) dataAt_ms = now_ms
    // A receiver that sends but never answers would stall everything silently. Its time limit starts with the link.
    if (!isUp || receiver.mode === 'listening' || isIdentified(receiver)) answerAt_ms = now_ms
    if (now_ms - Math.min(dataAt_ms, answerAt_ms) < patience_ms) ctx.errors.clear('gnss-link')
    else {
      const { port = 'its port', advice = 'check its cable and its power' } = place ?? {}
      const text = `no ${isUp ? 'answer' : 'data'} from the receiver at ${port}: ${advice}`
      ctx.errors.raise('gnss-link', { text, severity: 'silences', values: { port, what: isUp ? 'answer' : 'data' } })
    }

    for (const fault of ['short', 'open'] as const) {
      if (observed.antenna !== fault) ctx.errors.clear(`antenna-${fault}`)
      else
        ctx.errors.raise(`antenna-${fault}`, {
          text: `the antenna is ${fault}: check its cable and connectors`,
          advice: observed.held === 'antenna' ? 'no RTCM is sent until then (option antennaHold)' : '',
          values: { held: observed.held === 'antenna' },
          severity: 'silences',
        })
    }
    reportRadio(ctx, observed)
  })
}

const codes = ['gnss-link', 'antenna-short', 'antenna-open', 'gnss-jammed', 'gnss-spoofed', 'gnss-signals']

/** Interference, spoofing, missing signals. */
function reportRadio({ errors }: PluginContext, observed: Observed): void {
  const { radio, signals, antennaWatch, receiver } = observed
  if (!radio.jammed) errors.clear('gnss-jammed')
  else {
    const bands = radio.worst.map(({ band }) => band)
    errors.raise('gnss-jammed', {
      text: `strong interference in the ${bands.join(' and ')} band: the receiver can hardly work`,
      advice: 'look for a transmitter, a jammer or a faulty active antenna nearby; gnss.state.rf shows its strength',
      severity: 'silences',
      values: { bands: bands.join(', ') },
    })
  }
  if (!radio.spoofed) errors.clear('gnss-spoofed')
  else {
    const isHeld = observed.held === 'spoofed'
    const then = isHeld ? 'no RTCM is sent until spoofing ends (option spoofedHold)' : 'RTCM is still sent'
    errors.raise('gnss-spoofed', {
      text: `the receiver reports spoofed signals: ${then}`,
      advice: 'look for a transmitter or repeater nearby',
      severity: isHeld ? 'silences' : 'degrades',
      values: { held: isHeld },
    })
  }
  // An antenna that fails, or a receiver that is away, has an entry of its own.
  const troubles = receiver?.link === 'up' && !antennaWatch.fails ? signals.troubles(observed.now_ms()) : []
  if (troubles.length === 0) errors.clear('gnss-signals')
  else
    errors.raise('gnss-signals', {
      text: troubles.join('; '),
      severity: 'silences',
      values: { troubles: troubles.join('; ') },
    })
}
