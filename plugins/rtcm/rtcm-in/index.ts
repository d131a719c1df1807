import { definePlugin } from 'rtk-base/plugin'
import { correctionInput, correctionStatus, procedureStatus, receiver, receiverSettings } from 'rtk-base/services'
import { Type } from 'typebox'
import { Forwarder } from './forwarder.js'
import { Corrections, type InputMode, InputSnapshot } from './input.js'

/** The default of `gnss-recvrtcm-max-age`, where the plugin gnss does not run. */
const usualAge_s = 30

/** By the value of `rtcmin`. */
const modes: Readonly<Record<string, { input: InputMode; text: string }>> = {
  1: { input: 'on', text: 'corrections are accepted at all times' },
  0: { input: 'off', text: 'no corrections are accepted' },
  auto: { input: 'auto', text: 'corrections are accepted while wanted' },
}

/** Corrections of another station for the receiver: over UDP (through udp-rtcm) or from that station's MQTT topic. */
export default definePlugin({
  name: 'rtcm-in',
  version: '1.0.0',
  api: '^1.0.0',
  commands: ['rtcmin'],
  needs: [receiver],
  provides: [correctionInput, correctionStatus],
  options: Type.Object(
    {
      topic: Type.Optional(
        Type.String({
          pattern: '^base/[A-Za-z0-9_-]{1,64}/drtk$',
          description: 'Topic of the correction source, another station: base/<serial number>/drtk',
        }),
      ),
      allow: Type.Array(Type.String({ minLength: 2, maxLength: 45 }), {
        default: [],
        maxItems: 64,
        description: 'IP addresses that may send corrections over UDP',
      }),
    },
    { additionalProperties: false },
  ),

  setup(ctx, { topic, allow }) {
    const find = () => ctx.services.find(receiver)
    const procedure = () => ctx.services.find(procedureStatus)
    const forwarder = new Forwarder({
      now_ms: () => ctx.clock.monotonic(),
      after: (ms, fn) => ctx.timers.after(ms, fn),
      send: (frames) => find()?.sendCorrections(frames) ?? false,
      changed: (taken) =>
        ctx.log[taken ? 'info' : 'warn'](
          taken ? 'the receiver accepts corrections again' : 'the receiver accepts no corrections: they are dropped',
        ),
    })
    const corrections = new Corrections({
      now_ms: () => ctx.clock.monotonic(),
      wanted: () => procedure()?.wantsCorrections === true,
      maxAge_s: () => ctx.services.find(receiverSettings)?.correctionMaxAge_s ?? usualAge_s,
      own() {
        const arp = procedure()?.reference
        const stationId = find()?.stationId
        return stationId === undefined ? undefined : { arp, stationId }
      },
      position() {
        const fix = find()?.fix
        return fix?.ok ? fix.position : procedure()?.reference
      },
      allow,
      trusted: () => procedure()?.trustedSources ?? [],
      forward(frame) {
        if (!procedure()?.pausesCorrections) forwarder.push(frame)
      },
    })
    let shown = ''
    const take = (packet: Uint8Array, remote: string, address: string) => {
      const refusal = corrections.take(packet, remote, address)
      const shared = corrections.sharesId ? ', which has our station ID at another position' : ''
      const status = refusal ? `rejected ${remote}: ${refusal}` : `corrections from ${remote}${shared}`
      // A sender that is rejected may send every second: one line in the plugin list, none in the log.
      if (status !== shown) ctx.status(status)
      shown = status
      return refusal
    }
    ctx.services.provide(correctionInput, { take })
    ctx.services.provide(correctionStatus, corrections)
    const block = ctx.info.block('gnss.state.recvrtcm', () => corrections.block())

    ctx.action({
      name: 'rtcmin',
      summary: 'rtcmin=1 accepts corrections at all times, rtcmin=0 never, rtcmin=auto while they are wanted',
      input: { mode: Type.Union([Type.Literal('0'), Type.Literal('1'), Type.Literal('auto')]) },
      run: ({ input }) => {
        const mode = modes[input.mode]
        corrections.choose(mode.input)
        block.changed()
        return mode.text
      },
    })
    if (topic === `base/${ctx.serial}/drtk`)
      ctx.log.error({ topic }, 'the option topic names this station itself: it is not used')
    else if (topic !== undefined) {
      ctx.mqtt.describe({ address: topic, from: 'client', summary: 'RTCM corrections of another base' })
      ctx.mqtt.on(topic, ({ payload, retain }) => {
        // A retained message may be of any age.
        if (!retain) take(payload, `mqtt ${topic}`, 'mqtt')
      })
    }
    return corrections
  },

  start(_ctx, handoff, corrections) {
    const before = handoff.get('corrections', InputSnapshot)
    if (before) corrections.restore(before)
  },

  stop: (_reason, corrections) => [['corrections', corrections.snapshot()]],
})
