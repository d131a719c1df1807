/** The faults of the simulated receiver as a service. */
import type { PluginContext } from 'rtk-base/plugin'
import { correctionInput, type SimulatedReceiver } from 'rtk-base/services'
import { modelControl, modelState, type ReceiverLine } from 'rtk-base/simulation'
import { fixedSettings, outputSettings, surveySettings } from './firmware/factory.js'
import type { SimulatedZed } from './receiver.js'
import { RemoteBase } from './remote-base.js'
import type { Pair } from './ubx/config.js'
import { keyId } from './ubx/keys.js'

/** Typical position error of a wrong ambiguity fix. */
const usualWrongFix = { east: 0.3, north: -0.2, up: 0.6 }

export function receiverControl(ctx: PluginContext, port: ReceiverLine<SimulatedZed>): SimulatedReceiver {
  const deliver = (packet: Uint8Array) => {
    ctx.services.find(correctionInput)?.take(packet, 'simulated base', 'simulator')
  }
  const { device: zed } = port
  const remote = new RemoteBase(zed, ctx, deliver)
  return {
    port,
    get truth() {
      return zed.model.truth
    },
    ...modelControl(zed.model, port),
    spoof: (state) => {
      zed.faults.spoofing = state
    },
    restart: (cold = false) => zed.reset('restart', cold),
    corrections: (away_m, wrong, stationId) => {
      remote.send(away_m, wrong, stationId)
    },
    wrongFix: (probability, by = usualWrongFix) => {
      zed.navigation.wrongFix = { probability, by }
    },
    nak: (key) => {
      if (key === undefined) zed.config.refused.clear()
      else zed.config.refused.add(keyId(key))
    },
    ignore: (key) => {
      if (key === undefined) zed.config.ignored.clear()
      else zed.config.ignored.add(keyId(key))
    },
    set: (key, value, layer = 'ram') => {
      if (layer === 'ram') zed.set(keyId(key), value)
      else zed.config.store([[keyId(key), value]])
    },
    dropAcks: (every) => {
      zed.faults.dropAcks = every
    },
    flash: (mode) => {
      const { options, config } = zed
      config.store(flashOf(mode))
      if (mode !== 'rover') config.store(outputSettings(options))
    },
    wrongReference: (error_m) => {
      zed.faults.wrongReference_m = error_m
    },
    silence: (on) => {
      zed.faults.silent = on
    },
    corrupt: (frames) => {
      zed.faults.corruptFrames = frames
    },
    value: (key, layer = 'ram') => zed.config.layerValue(keyId(key), layer),
    get received() {
      return { bytes: zed.receivedBytes, ...zed.config.written }
    },
    describe() {
      const parts = modelState(zed.model, port, `tmode ${zed.navigation.mode}`)
      const { spoofing } = zed.faults
      if (spoofing !== 1) parts.push(`spoof ${spoofing}`)
      const { probability } = zed.navigation.wrongFix
      if (probability > 0) parts.push(`wrong fixes ${probability * 100} %`)
      if (remote.away_m !== undefined) parts.push(`corrections of a base ${remote.away_m} m away`)
      if (zed.faults.silent) parts.push('silent')
      if (zed.faults.wrongReference_m !== 0) parts.push(`1005 wrong by ${zed.faults.wrongReference_m} m`)
      if (zed.config.refused.size > 0) parts.push(`refuses ${zed.config.refused.size} keys`)
      if (zed.config.ignored.size > 0) parts.push(`ignores ${zed.config.ignored.size} keys`)
      if (zed.faults.dropAcks > 0) parts.push(`loses every ${zed.faults.dropAcks}. ACK`)
      return parts.join(', ')
    },
  }
}

function flashOf(mode: Parameters<SimulatedReceiver['flash']>[0]): readonly Pair[] {
  if (mode === 'rover') return [[keyId('CFG-TMODE-MODE'), 0]]
  return mode === 'survey-in' ? surveySettings : fixedSettings(mode.arp)
}
