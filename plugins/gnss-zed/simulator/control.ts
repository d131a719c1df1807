/** The faults of the simulated receiver as a service. */
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import { correctionInput, type SimulatedReceiver } from 'rtk-base/services'
import { type ConfigPair, keyId } from '../ubx/index.js'
import { fixedSettings, outputSettings, surveySettings } from './firmware/factory.js'
import type { SimulatedPort } from './port.js'
import { RemoteBase } from './remote-base.js'

export function simulatorControl(ctx: PluginContext, simulated: SimulatedPort | undefined): SimulatedReceiver {
  const deliver = (packet: Uint8Array) => {
    ctx.services.find(correctionInput)?.take(packet, 'simulated base', 'simulator')
  }
  const remote = simulated && new RemoteBase(simulated.zed, ctx, deliver)
  const port = () => {
    if (!simulated) throw unavailable('the receiver is not a simulated one: set gnss-zed.port to simulator')
    return simulated
  }
  const zed = () => port().zed
  return {
    get truth() {
      return zed().model.truth
    },
    move: (east, north, up) => zed().model.move(east, north, up),
    jam: (loss_db) => {
      zed().model.jam_db = Math.max(0, loss_db)
    },
    antenna: (state) => {
      zed().model.antenna = state
    },
    unplug: () => port().unplug(),
    replug: () => port().replug(),
    restart: (cold = false) => zed().reset('restart', cold),
    corrections: (away_m) => {
      port()
      remote?.send(away_m)
    },
    nak: (key) => {
      if (key === undefined) zed().config.refused.clear()
      else zed().config.refused.add(keyId(key))
    },
    ignore: (key) => {
      if (key === undefined) zed().config.ignored.clear()
      else zed().config.ignored.add(keyId(key))
    },
    set: (key, value, layer = 'ram') => {
      if (layer === 'ram') zed().set(keyId(key), value)
      else zed().config.store([[keyId(key), value]])
    },
    dropAcks: (every) => {
      zed().faults.dropAcks = every
    },
    deafAbove: (baud) => {
      port().deafAbove_baud = baud
    },
    flash: (mode) => {
      const { options, config } = zed()
      config.store(flashOf(mode))
      if (mode !== 'rover') config.store(outputSettings(options))
    },
    wrongReference: (error_m) => {
      zed().faults.wrongReference_m = error_m
    },
    silence: (on) => {
      zed().faults.silent = on
    },
    corrupt: (frames) => {
      zed().faults.corruptFrames = frames
    },
    value: (key, layer = 'ram') => zed().config.layerValue(keyId(key), layer),
    get received() {
      return { bytes: zed().receivedBytes, ...zed().config.written }
    },
    describe() {
      const { east, north, up } = zed().model.offset
      const { antenna, jam_db } = zed().model
      const parts = [
        port().plugged ? 'plugged' : 'unplugged',
        `moved E ${east} N ${north} U ${up} m`,
        `antenna ${antenna}`,
        `jam ${jam_db} dB`,
        `tmode ${zed().navigation.mode}`,
      ]
      if (remote?.away_m !== undefined) parts.push(`corrections of a base ${remote.away_m} m away`)
      if (zed().faults.silent) parts.push('silent')
      if (zed().faults.wrongReference_m !== 0) parts.push(`1005 wrong by ${zed().faults.wrongReference_m} m`)
      if (zed().config.refused.size > 0) parts.push(`refuses ${zed().config.refused.size} keys`)
      if (zed().config.ignored.size > 0) parts.push(`ignores ${zed().config.ignored.size} keys`)
      if (zed().faults.dropAcks > 0) parts.push(`loses every ${zed().faults.dropAcks}. ACK`)
      if (port().deafAbove_baud > 0) parts.push(`deaf above ${port().deafAbove_baud} baud`)
      return parts.join(', ')
    },
  }
}

function flashOf(mode: Parameters<SimulatedReceiver['flash']>[0]): readonly ConfigPair[] {
  if (mode === 'rover') return [[keyId('CFG-TMODE-MODE'), 0]]
  return mode === 'survey-in' ? surveySettings : fixedSettings(mode.arp)
}
