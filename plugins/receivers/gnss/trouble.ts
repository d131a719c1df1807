/** Errors of the receiver in `base.state.errors`, raised and cleared with their cause. */
import { isIdentified } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
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
      for (const code of codes) ctx.errors.while(code, false)
      return
    }
    const { link, place, recording } = receiver
    const isUp = link === 'up'
    if (isUp || (recording?.ended && !recording.isEmpty)) dataAt_ms = now_ms
    // A receiver that sends but never answers would stall everything silently. Its time limit starts with the link.
    if (!isUp || receiver.mode === 'listening' || isIdentified(receiver)) answerAt_ms = now_ms
    const isSilent = now_ms - Math.min(dataAt_ms, answerAt_ms) >= patience_ms
    const { port = 'its port', advice = 'check its cable and its power' } = place ?? {}
    const silence = { port, what: isUp ? 'answer' : 'data', _advice: advice }
    ctx.errors.while('gnss-link', isSilent && silence, { severity: 'silences' })
    for (const fault of ['short', 'open'] as const) {
      const stands = observed.antenna === fault && { held: observed.held === 'antenna' }
      ctx.errors.while(`antenna-${fault}`, stands, { severity: 'silences' })
    }
    reportRadio(ctx, observed)
  })
}

const codes = ['gnss-link', 'antenna-short', 'antenna-open', 'gnss-jammed', 'gnss-spoofed', 'gnss-signals']

/** Interference, spoofing, missing signals. */
function reportRadio({ errors }: PluginContext, observed: Observed): void {
  const { radio, signals, antennaWatch, receiver } = observed
  const bands = radio.jammed ? radio.worst.map(({ band }) => band) : []
  const jamming = { bands: bands.join(', '), _bands: bands.join(' and ') }
  errors.while('gnss-jammed', radio.jammed && jamming, { severity: 'silences' })
  const held = observed.held === 'spoofed'
  errors.while('gnss-spoofed', radio.spoofed && { held }, { severity: held ? 'silences' : 'degrades' })
  // An antenna that fails, or a receiver that is away, has an entry of its own.
  const troubles = receiver?.link === 'up' && !antennaWatch.fails ? signals.troubles(observed.now_ms()) : []
  errors.while('gnss-signals', troubles.length > 0 && { troubles: troubles.join('; ') }, { severity: 'silences' })
}
