import type { CommandSettings } from 'rtk-base/simulation'
import { isCommand, port } from './commands.js'
import type { SimulatedMosaic } from './receiver.js'
import { isSetting, writeSetting } from './settings.js'

/** Messages of an RTCM output that somebody else switches on or off. */
const rtcmName = /^RTCM1\d\d\d$/

/** The settings of a simulated mosaic for whoever has another of its ports: an RTCM message by its name, or a setting of one number. */
export function mosaicControl(receiver: SimulatedMosaic): CommandSettings {
  const settingsOf = (layer: 'ram' | 'flash') => (layer === 'ram' ? receiver.settings : receiver.flash)
  return {
    model: 'mosaic',
    lacks: [],
    isCommand: (text) => rtcmName.test(text) || isSetting(text) || isCommand(text.split(/[\s,]/)[0] ?? ''),
    set(name, value, layer) {
      const settings = settingsOf(layer)
      if (!rtcmName.test(name)) return isSetting(name) && Array.isArray(writeSetting(settings, name, [String(value)]))
      const others = settings.RTCMv3Output[port][0].split('+').filter((other) => other !== name && other !== 'none')
      const wanted = value > 0 ? [...others, name] : others
      settings.RTCMv3Output[port] = [wanted.join('+') || 'none']
      return true
    },
    value(name, layer) {
      const settings = settingsOf(layer)
      if (rtcmName.test(name)) return settings.RTCMv3Output[port][0].split('+').includes(name) ? 1 : 0
      const value = Number(settings[name.replace(/^[gs]et/, '')]?.['']?.[0])
      return Number.isNaN(value) ? undefined : value
    },
  }
}
