/** The families of receivers, each with its driver and its simulator, and a base of one. */
import type { Test } from 'tap'
import { isMsm } from '../../../runtime/lib/gnss/index.js'
import { definePlugin } from '../../../runtime/plugin.js'
import {
  type ProcedureStatus,
  procedureStatus,
  type RtcmFrame,
  rtcmStream,
  type SimulatedReceiver,
  simulatedReceiver,
} from '../../../schemas/services.js'
import type { ReceiverDevice, TestStation } from '../../harness/index.js'
import { Bench } from '../../harness/receiver/bench.js'
import { shippedPlugin } from '../../harness/shipped.js'
import type { Definition } from '../reference/survey-in-rig.js'

export interface Family {
  readonly name: string
  readonly driver: string
  readonly simulator: string
  readonly options: Record<string, unknown>
  /** A command that no base can be made without, as the simulator's `nak` takes it. */
  readonly refused: string
  readonly reports: readonly ('antenna' | 'jam' | 'spoof')[]
  readonly seesNoShort?: boolean
}

export const families: readonly Family[] = [
  {
    ...{ name: 'ZED-F9P', driver: 'gnss-zed', simulator: 'simulated-receiver', options: { boot: 'rover' } },
    ...{ refused: 'CFG-TMODE-MODE', reports: ['antenna', 'jam', 'spoof'] },
  },
  {
    ...{ name: 'ZED-X20P', driver: 'gnss-zed', simulator: 'simulated-receiver' },
    options: { boot: 'rover', module: 'ZED-X20P' },
    ...{ refused: 'CFG-TMODE-MODE', reports: ['antenna', 'jam', 'spoof'] },
  },
  {
    ...{ name: 'UM980', driver: 'gnss-unicore', simulator: 'simulated-um980', options: {} },
    ...{ refused: 'MODE', reports: [] },
  },
  {
    ...{ name: 'LG290P', driver: 'gnss-quectel', simulator: 'simulated-lg290p', options: { echo: true } },
    ...{ refused: 'PQTMCFGRCVRMODE', reports: [] },
  },
  {
    ...{ name: 'mosaic', driver: 'gnss-septentrio', simulator: 'simulated-mosaic', options: {} },
    ...{ refused: 'setPVTMode', reports: ['antenna', 'jam', 'spoof'], seesNoShort: true },
  },
]

const simulate = (station: TestStation | undefined) => async (text: string) => {
  const { status, text: answer } = (await station?.station.command(`sim=${text}`, { source: 'plugin' })) ?? {}
  if (status !== 200) throw new Error(`sim=${text}: ${answer}`)
}

/** The simulated receiver, by its command. */
export function deviceOf({ refused, reports, seesNoShort = false }: Family): ReceiverDevice {
  let sim: (text: string) => Promise<void> = async () => {}
  const faults: Pick<ReceiverDevice, 'antenna' | 'jam' | 'spoof'> = {
    antenna: (status) => sim(`antenna ${status}`),
    jam: (on) => sim(`jam ${on ? 30 : 'off'}`),
    spoof: (on) => sim(`spoof ${on ? 2 : 1}`),
  }
  return {
    seesNoShort,
    begin(station) {
      sim = simulate(station)
    },
    connect: () => sim('replug'),
    disconnect: () => sim('unplug'),
    silence: (on) => sim(`silence ${on ? 'on' : 'off'}`),
    restart: () => sim('restart'),
    refuse: (on) => sim(`nak ${on ? refused : 'off'}`),
    wrongReference: (on) => sim(`wrong-1005 ${on ? 1 : 'off'}`),
    ...Object.fromEntries(reports.map((name) => [name, faults[name]])),
  }
}

export const definitionOf = async (name: string) => (await shippedPlugin(name)) as unknown as Definition

/** A base of the family, with a rover that keeps what it gets. @param integrity options of that plugin */
export async function baseOf(t: Test, family: Family, seed = 1, integrity: Record<string, unknown> = {}) {
  const sent: RtcmFrame[] = []
  let simulated: SimulatedReceiver | undefined
  let procedure: ProcedureStatus | undefined
  const rover = definePlugin({
    name: 'rover',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [rtcmStream, simulatedReceiver],
    setup: () => {},
    start: (ctx) => {
      simulated = ctx.services.use(simulatedReceiver)
      const take = (frame: RtcmFrame) => sent.push(frame) > 0
      const subscription = ctx.services.use(rtcmStream).subscribe({ via: 'tcp', name: 'rover', ip: '192.0.2.1', take })
      ctx.defer(() => subscription.close())
      ctx.services.watch(procedureStatus, (service) => {
        procedure = service
      })
    },
  })
  const bench = await Bench.create(
    await definitionOf(family.driver),
    deviceOf(family),
    { port: 'simulator' },
    {
      plugins: { [family.simulator]: [await definitionOf(family.simulator), { ...family.options, seed }], rover },
      sources: { integrity: { initial_s: 10, ...integrity } },
      variant: { changes: { 'gnss-survey-mintime': 15, 'gnss-survey-accuracy': 5 } },
    },
  )
  t.teardown(() => bench.station.stop())
  const observed = () => sent.some(({ type }) => isMsm(type))
  const device = () => {
    if (!simulated) throw new Error('the rover does not run')
    return simulated
  }
  const flashWrites = () => device().received.flash
  return {
    ...{ bench, sent, sim: simulate(bench.station), observed, flashWrites },
    ...{ truth: () => device().truth, port: () => device().port },
    /** `gnss.state.status`, without a document. */
    status: () => procedure?.status,
  }
}
