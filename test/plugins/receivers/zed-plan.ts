/** What gnss-zed plans and writes for a target, without a station. */

import { firmwareOf } from '../../../plugins/receivers/gnss-zed/configure/firmware.js'
import { type PlanInput, planOf } from '../../../plugins/receivers/gnss-zed/configure/plan.js'
import { answer_ms, UbxDialog, type UbxMessage } from '../../../plugins/receivers/gnss-zed/link/ubx-dialog.js'
import * as ubx from '../../../plugins/receivers/gnss-zed/ubx/index.js'
import { runCommand } from '../../../plugins/simulated/simulated-receiver/firmware/commands.js'
import { ConfigStore } from '../../../plugins/simulated/simulated-receiver/firmware/config-store.js'
import { type BaseSettings, Dialog, type WantedSetup } from '../../../runtime/lib/link/index.js'
import type { ReceiverTarget } from '../../../schemas/services.js'
import { ManualClock } from '../../harness/index.js'

export const f9p = firmwareOf({ firmware: 'HPG 1.32', protocol: '27.31' })
export const x20p = firmwareOf({ firmware: 'HPG 2.00', protocol: '50.10' })

const usual: BaseSettings = {
  ...{ msm: 4, observationInterval_s: 1, referenceInterval_s: 1, biasInterval_s: 10 },
  ...{ constellations: undefined, elevationMask_deg: undefined },
}

/** What the driver makes of a target. @param base the options of the plugin, where they are not the usual ones */
export const wantedOf = (target: ReceiverTarget, base: Partial<BaseSettings> = {}): WantedSetup => ({
  target,
  settings: { ...usual, ...base, ...target.output },
  stationId: 0,
})

/** The plan for a target with the usual options of the plugin. */
export const planFor = (
  target: ReceiverTarget,
  {
    base,
    options,
    ...others
  }: Partial<Omit<PlanInput, 'options'>> & { base?: Partial<BaseSettings>; options?: object } = {},
) =>
  planOf({
    port: 'USB',
    firmware: f9p,
    wanted: wantedOf(target, base),
    options: {
      antenna: { power: 'on', shortDetection: 'on', openDetection: 'keep', powerDown: 'on', recovery: 'on' },
      ...{ secondFix: true, otherPorts: 'off', signalPlan: 'keep' },
      ...options,
    },
    extras: { signals: false, orbits: false },
    correctionMaxAge_s: 30,
    ...others,
  })

/** A dialog in UBX. @param write takes the requests */
export function ubxDialog(
  timers: ConstructorParameters<typeof Dialog>[0]['timers'],
  write: (bytes: Uint8Array) => boolean,
) {
  const plain = new Dialog<UbxMessage>({ timers }, write, answer_ms)
  return {
    dialog: new UbxDialog(plain),
    abort: () => plain.abort(),
    hear: (frame: Uint8Array) =>
      plain.hear({ cls: frame[2] as number, id: frame[3] as number, payload: ubx.payloadOf(frame) }),
  }
}

/** A receiver's configuration that answers a dialog, with what it rejects and what it acknowledges but ignores. */
export function scripted() {
  const clock = new ManualClock()
  const timers = { after: (ms: number, fn: () => void) => clock.timer(ms, fn), every: () => () => {} }
  const store = new ConfigStore()
  const state = { silent: false, asked: 0 }
  const reply = (frame: Uint8Array) => {
    if (!state.silent) hear(frame)
  }
  const target = { config: store, reply, loseAck: () => false, configChanged() {}, reset() {}, poll: () => undefined }
  const { dialog, hear } = ubxDialog(timers, (bytes) => {
    state.asked++
    clock.timer(1, () => runCommand(target, bytes[2] as number, bytes[3] as number, ubx.payloadOf(bytes)))
    return true
  })
  const settle = async <T>(promise: Promise<T>): Promise<T> => {
    let done = false
    const over = promise.then(
      () => {
        done = true
      },
      () => {
        done = true
      },
    )
    for (let ms = 0; !done && ms < 20_000; ms++) await clock.advance(1)
    await over
    return promise
  }
  return { clock, timers, store, dialog, settle, state }
}
