/** Everything that the simulated receiver sends for one epoch, by its configuration. */
import { encodeUbx } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { ephemerisFrame, type NavigationPage, navigationPage, rtcmMessages } from 'rtk-base/simulation'
import type { CorrectionInput, HeardCorrection } from '../corrections.js'
import type { ConfigStore } from '../firmware/config-store.js'
import { implausibleWarning } from '../firmware/factory.js'
import type { ReceiverOptions } from '../options.js'
import type { Navigation } from '../solution.js'
import { keyId, type Output, outputKey } from '../ubx/keys.js'
import { messages } from '../ubx/messages.js'
import { write } from '../ubx/wire.js'
import { type ReceiverEpoch, ubxMessages } from './ubx-output.js'

const stationIdKey = keyId('CFG-RTCM-DF003_OUT')
/** Epochs between two warnings of an implausible reference. */
const warnEvery = 60

/** The parts of the receiver that its output depends on. */
export interface OutputSource {
  readonly options: ReceiverOptions
  readonly config: ConfigStore
  readonly navigation: Navigation
  readonly faults: { readonly wrongReference_m: number }
  /** An RTCM frame on its way out, damaged while that fault lasts. */
  damaged(frame: Uint8Array): Uint8Array
}

export class EpochFrames {
  readonly #source: OutputSource
  readonly #corrections: CorrectionInput

  constructor(source: OutputSource, corrections: CorrectionInput) {
    this.#source = source
    this.#corrections = corrections
  }

  /** @param count number of the epoch: a message with rate n is in every n-th */
  of(now: ReceiverEpoch, count: number): Uint8Array[] {
    const { config, navigation, options } = this.#source
    const due = (message: Output) => this.#isDue(message, count)
    const frames: Uint8Array[] = []
    const reports = this.#corrections.reports()
    if (this.enabled('UBX')) {
      frames.push(...ubxMessages(now, (message) => message !== 'GGA' && due(message)))
      if (due('RXM-SFRBX')) frames.push(...pages(now).map(rxmSfrbx))
      if (due('RXM-RTCM')) frames.push(...reports.map(rxmRtcm))
      if (due('RXM-COR')) frames.push(...reports.map(rxmCor))
      if (this.#warns && navigation.implausible && count % warnEvery === 0) frames.push(implausibleWarning)
    }
    if (options.nmea && this.enabled('NMEA')) {
      frames.push(...ubxMessages(now, (message) => message === 'GGA' && due(message)))
    }
    if (this.enabled('RTCM3X') && now.solution.fixType > 0) {
      const stationId = config.get(stationIdKey)
      const isDue = (type: number) => due(type)
      const rtcm = rtcmMessages({ epoch: now.epoch, stationId, arp: this.#sentArp(), due: isDue })
      frames.push(...rtcm.map((frame) => this.#source.damaged(frame)))
    }
    return frames
  }

  /** Whether its port sends this protocol. */
  enabled(protocol: 'UBX' | 'NMEA' | 'RTCM3X'): boolean {
    const { config, options } = this.#source
    return config.get(keyId(`CFG-${options.wiring}OUTPROT-${protocol}`)) === 1
  }

  /** CFG-INFMSG: bit 1 is for warnings. */
  get #warns(): boolean {
    const { config, options } = this.#source
    return (config.get(keyId(`CFG-INFMSG-UBX_${options.wiring}`)) & 2) !== 0
  }

  #sentArp(): Ecef | undefined {
    const { faults, navigation } = this.#source
    const { arp } = navigation
    return arp && { ...arp, x: arp.x + faults.wrongReference_m }
  }

  #isDue(message: Output, count: number): boolean {
    const { config, options } = this.#source
    const key = outputKey(message, options.wiring)
    const rate = key === undefined ? 0 : config.get(key)
    return rate > 0 && count % rate === 0
  }
}

/** The pages that the tracked satellites have sent. */
function pages({ epoch, solution }: ReceiverEpoch): NavigationPage[] {
  const gps_s = Math.round(epoch.gps_s)
  // All pages begin at even seconds.
  if (!solution.resolved || gps_s % 2 !== 0) return []
  return epoch.tracks.flatMap(({ sight }) => {
    const frame = ephemerisFrame(sight, epoch.gps_s)
    return (frame && navigationPage(frame, sight.svId, gps_s)) ?? []
  })
}

/** Version 2 (F9 HPG 1.51 interface description). */
function rxmSfrbx({ gnssId, satellite, sigId, words }: NavigationPage): Uint8Array {
  const payload = new Uint8Array(8 + 4 * words.length)
  payload.set([gnssId, satellite, sigId, 0, words.length, 0, 2, 0])
  const view = new DataView(payload.buffer)
  for (const [index, word] of words.entries()) view.setUint32(8 + 4 * index, word, true)
  return encodeUbx(0x02, 0x13, payload)
}

const usedOf = ({ isUsed }: HeardCorrection) => (isUsed ? 2 : 1)

const rxmRtcm = (heard: HeardCorrection): Uint8Array =>
  write(messages['RXM-RTCM'], {
    ...{ version: 2, msgUsed: usedOf(heard), refStation: heard.stationId, msgType: heard.type },
  })

/** RTCM 3 without errors. */
const rxmCor = (heard: HeardCorrection): Uint8Array =>
  write(messages['RXM-COR'], {
    ...{ version: 1, protocol: 1, errStatus: 1, msgUsed: usedOf(heard), correctionId: heard.stationId },
    ...{ msgTypeValid: 1, msgType: heard.type },
  })
