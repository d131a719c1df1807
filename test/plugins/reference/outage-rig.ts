/** A station on a simulated UM980 that outlives it: its geometry is exact, and it sends its ephemerides. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { um980Control } from '../../../plugins/simulated/simulated-um980/control.js'
import { SimulatedUm980 } from '../../../plugins/simulated/simulated-um980/receiver.js'
import { commandControl, type NoiseName, ReceiverLine } from '../../../runtime/lib/simulation/index.js'
import { definePlugin } from '../../../runtime/plugin.js'
import {
  type ProcedureStatus,
  procedureStatus,
  type RtcmFrame,
  rtcmStream,
  simulatedReceiver,
} from '../../../schemas/services.js'
import { settled } from '../../harness/drive.js'
import { createTestStation, ManualClock } from '../../harness/index.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { definitionOf } from '../receivers/receiver-rig.js'
import type { Definition } from './survey-in-rig.js'

export type Kind = 'service killed' | 'line off' | 'cable off' | 'receiver off'

export interface OutageRigOptions {
  readonly seed: number
  readonly noise?: NoiseName
  readonly msm?: 4 | 7
}

export type OutageRig = Awaited<ReturnType<typeof outageRig>>

export async function outageRig(t: Test, { seed, noise = 'quiet', msm = 7 }: OutageRigOptions) {
  const clock = new ManualClock()
  const timers = { after: (ms: number, fn: () => void) => clock.timer(ms, fn), every: () => () => {} }
  const edges = { clock, timers }
  const data = mkdtempSync(join(tmpdir(), 'rtk-base-outage-'))
  const where = { lat: 52, lon: 4, alt: 50, geoidSeparation_m: 44.5, tcp: 0 }
  const device = new SimulatedUm980({ ...where, boot: 'rover', seed, com: 3, echo: false, noise }, edges)
  const line = new ReceiverLine(device, edges)
  const control = commandControl(line, um980Control(device)).receiver
  device.powerOn()
  let store = new MemoryStore()
  const sent: RtcmFrame[] = []
  const receiver = definePlugin({
    ...{ name: 'simulated-um980', version: '1.0.0', api: '^1.0.0', provides: [simulatedReceiver] },
    setup: ({ services }) => services.provide(simulatedReceiver, control),
  })
  let procedure: ProcedureStatus | undefined
  const rover = definePlugin({
    ...{ name: 'rover', version: '1.0.0', api: '^1.0.0', needs: [rtcmStream] },
    setup: () => {},
    start: (ctx) => {
      const take = (frame: RtcmFrame) => sent.push(frame) > 0
      ctx.services.use(rtcmStream).subscribe({ via: 'test', name: 'rover', ip: '', take })
      ctx.services.watch(procedureStatus, (service) => {
        procedure = service
      })
    },
  })
  const begin = async () =>
    createTestStation({
      ...{ clock, store, data, sources: { gnss: {}, rtcm: {}, integrity: { initial_s: 60 }, 'survey-in': {} } },
      variant: { changes: { 'gnss-survey-mintime': 60, 'gnss-survey-accuracy': 8, 'gnss-initial-accuracy': 8 } },
      plugins: {
        'simulated-um980': receiver as unknown as Definition,
        'gnss-unicore': [await definitionOf('gnss-unicore'), { port: 'simulator', msm }],
        rover: rover as unknown as Definition,
      },
    })
  let station = await begin()
  let isRunning = true
  const stop = async () => {
    if (isRunning) await station.stop()
    isRunning = false
  }
  t.teardown(async () => {
    await stop()
    line.end()
    rmSync(data, { recursive: true, force: true })
  })
  // Not from the document: it is asked for each second, and the whole document would be built for it.
  const status = () => procedure?.status
  const seconds = async (count: number) => {
    for (let i = 0; i < count; i++) await clock.advance(1000)
  }
  const rig = {
    ...{ clock, control, device, data, sent, status, seconds },
    get station() {
      return station
    },
    errors: () => station.device.errors(),
    async until(condition: () => unknown, limit_s: number): Promise<number> {
      for (let i = 0; i <= limit_s; i++) {
        if (condition()) return i
        await seconds(1)
        // Files take real time.
        await new Promise((done) => setImmediate(done))
      }
      return Number.POSITIVE_INFINITY
    },
    fixed: (limit_s = 400) => rig.until(() => status() === 'fixed', limit_s),
    /** As by `kill -9`: what the store has now is what is left. Files that are being written take real time, of which nobody knows how much. */
    async kill() {
      // What was being written is on the disk.
      await settled()
      const names = await store.namespaces()
      const found = await Promise.all(names.map(async (name) => [name, await store.entries(name)] as const))
      await stop()
      store = new MemoryStore(structuredClone(Object.fromEntries(found)))
    },
    async start() {
      station = await begin()
      isRunning = true
    },
    /** @param meanwhile what is done to the antenna */
    async outage(kind: Kind, away_s: number, meanwhile: () => void): Promise<void> {
      if (kind === 'service killed') await rig.kill()
      else if (kind === 'line off') control.silence(true)
      else if (kind === 'cable off') control.antenna('open')
      else control.unplug()
      await seconds(Math.floor(away_s / 2))
      meanwhile()
      await seconds(Math.ceil(away_s / 2))
      if (kind === 'service killed') await rig.start()
      else if (kind === 'line off') control.silence(false)
      else if (kind === 'cable off') control.antenna('ok')
      else control.replug()
    },
  }
  return rig
}
