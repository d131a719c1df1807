/** The faults of the simulated receiver as a service. */
import type { PluginContext } from 'rtk-base/plugin'
import { correctionInput, type SimulatedReceiver } from 'rtk-base/services'
import { deviceControl, deviceState, type ReceiverLine, type SimulatedControl } from 'rtk-base/simulation'
import { fixedSettings, outputSettings, surveySettings } from './firmware/factory.js'
import type { SimulatedZed } from './receiver.js'
import { RemoteBase } from './remote-base.js'
import type { Pair } from './ubx/config.js'
import { isKey, keyId } from './ubx/keys.js'

/** Typical position error of a wrong ambiguity fix. */
const usualWrongFix = { east: 0.3, north: -0.2, up: 0.6 }

export function receiverControl(line: ReceiverLine<SimulatedZed>, ctx: PluginContext): SimulatedControl {
  const { device: zed } = line
  const { config, navigation } = zed
  const remote = new RemoteBase(zed, ctx, (packet) => {
    ctx.services.find(correctionInput)?.take(packet, 'simulated base', 'simulator')
  })
  const named = (set: Set<number>, key: string | undefined) => {
    if (key === undefined) set.clear()
    else set.add(keyId(key))
  }
  const receiver: SimulatedReceiver = {
    ...deviceControl(line),
    get truth() {
      return zed.model.truth
    },
    corrections: (away_m, wrong, stationId) => remote.send(away_m, wrong, stationId),
    wrongFix: (probability, by = usualWrongFix) => {
      navigation.wrongFix = { probability, by }
    },
    nak: (key) => named(config.refused, key),
    ignore: (key) => named(config.ignored, key),
    set: (key, value, layer = 'ram') => {
      if (layer === 'ram') zed.set(keyId(key), value)
      else config.store([[keyId(key), value]])
    },
    dropAcks: (every) => {
      zed.dropAcks = every
    },
    flash: (mode) => {
      config.store(flashOf(mode))
      if (mode !== 'rover') config.store(outputSettings(zed.options))
    },
    value: (key, layer = 'ram') => config.layerValue(keyId(key), layer),
    get received() {
      return { bytes: zed.received.bytes, ...config.written }
    },
    describe() {
      const parts = deviceState(line, `tmode ${navigation.mode}`)
      const { probability } = navigation.wrongFix
      if (probability > 0) parts.push(`wrong fixes ${probability * 100} %`)
      if (remote.away_m !== undefined) parts.push(`corrections of a base ${remote.away_m} m away`)
      if (config.refused.size > 0) parts.push(`refuses ${config.refused.size} keys`)
      if (config.ignored.size > 0) parts.push(`ignores ${config.ignored.size} keys`)
      if (zed.dropAcks > 0) parts.push(`loses every ${zed.dropAcks}. ACK`)
      return parts.join(', ')
    },
  }
  return { receiver, dialect: { isKey } }
}

function flashOf(mode: Parameters<SimulatedReceiver['flash']>[0]): readonly Pair[] {
  if (mode === 'rover') return [[keyId('CFG-TMODE-MODE'), 0]]
  return mode === 'survey-in' ? surveySettings : fixedSettings(mode.arp)
}
