/** The faults of the simulated receiver as a service. */
import { roundTo } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import { correctionInput, type SimulatedReceiver } from 'rtk-base/services'
import { lowest_deg } from 'rtk-base/simulation'
import { fixedSettings, outputSettings, surveySettings } from './firmware/factory.js'
import type { SimulatedPort } from './port.js'
import { RemoteBase } from './remote-base.js'
import type { Pair } from './ubx/config.js'
import { keyId } from './ubx/keys.js'

/** Typical position error of a wrong ambiguity fix. */
const usualWrongFix = { east: 0.3, north: -0.2, up: 0.6 }

export function receiverControl(ctx: PluginContext, port: SimulatedPort): SimulatedReceiver {
  const deliver = (packet: Uint8Array) => {
    ctx.services.find(correctionInput)?.take(packet, 'simulated base', 'simulator')
  }
  const { zed } = port
  const remote = new RemoteBase(zed, ctx, deliver)
  return {
    port,
    get truth() {
      return zed.model.truth
    },
    move: (east, north, up, over_s = 0) => zed.model.move(east, north, up, over_s),
    sway: (by, period_s = 2, over_s = Number.POSITIVE_INFINITY) => zed.model.sway(by, period_s, over_s),
    still: () => zed.model.stopMoving(),
    noise: (name) => zed.model.noise(name),
    loseLock: (which, away_s = 0) => zed.model.loseLock(which, away_s),
    slip: (which, cycles = 1, silent = false) => zed.model.slip(which, cycles, silent),
    satellites: (most, mask_deg) => zed.limit(most, mask_deg),
    jam: (loss_db, band) => {
      const { jam_db } = zed.model
      for (const each of ['L1', 'L2'] as const) {
        if (band === undefined || band === each) jam_db[each] = Math.max(0, loss_db)
      }
    },
    spoof: (state) => {
      zed.faults.spoofing = state
    },
    antenna: (state) => {
      zed.model.antenna = state
    },
    unplug: () => port.unplug(),
    replug: () => port.replug(),
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
    deafAbove: (baud) => {
      port.deafAbove_baud = baud
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
      const { east, north, up } = zed.model.offset
      const { antenna, jam_db } = zed.model
      const parts = [
        port.plugged ? 'plugged' : 'unplugged',
        `moved E ${roundTo(east, 4)} N ${roundTo(north, 4)} U ${roundTo(up, 4)} m`,
        `antenna ${antenna}`,
        jam_db.L1 === jam_db.L2 ? `jam ${jam_db.L1} dB` : `jam L1 ${jam_db.L1} dB L2 ${jam_db.L2} dB`,
        `tmode ${zed.navigation.mode}`,
      ]
      const { limit, surroundings } = zed.model
      if (surroundings.name !== 'quiet') parts.push(`${surroundings.name} surroundings`)
      if (limit.satellites < Number.POSITIVE_INFINITY || limit.mask_deg > lowest_deg)
        parts.push(`receives ${limit.satellites} satellites above ${limit.mask_deg}°`)
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
      if (port.deafAbove_baud > 0) parts.push(`deaf above ${port.deafAbove_baud} baud`)
      return parts.join(', ')
    },
  }
}

function flashOf(mode: Parameters<SimulatedReceiver['flash']>[0]): readonly Pair[] {
  if (mode === 'rover') return [[keyId('CFG-TMODE-MODE'), 0]]
  return mode === 'survey-in' ? surveySettings : fixedSettings(mode.arp)
}
