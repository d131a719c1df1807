/** Whether every report that a receiver claims comes, and reaches who judges by it. */
import type { ReceiverReport } from '../../../schemas/services.js'
import { arpFrame } from '../fake-receiver.js'
import type { Bench } from './bench.js'

const soon_s = 60
/** A fault is over after a minute without, at the latest. */
const over_s = 120
/** Of somebody else's base. */
const foreignStation = 77

export async function checkReports(bench: Bench): Promise<undefined> {
  const { receiver, witness } = bench
  const { reports = new Set<ReceiverReport>(), antennaDescriptor, ownSurvey } = receiver.can ?? {}
  const missing = () => [...reports].filter((report) => !witness.reports.has(report))
  for (let second = 0; second < soon_s && missing().length > 0; second++) {
    if (reports.has('corrections')) receiver.sendCorrections(foreignCorrection())
    await bench.seconds(1)
  }
  for (const report of missing()) bench.problem(`can.reports has ${report}, which did not come within ${soon_s} s`)
  if (!reports.has('satellites') && receiver.satellites) bench.problem('satellites is not claimed, and set')
  if (antennaDescriptor) {
    const isDescribed = () => witness.frames.some(({ type }) => type === 1008 || type === 1033)
    await bench.expect(soon_s, isDescribed, 'can.antennaDescriptor is true, but no 1008 or 1033 came')
  }
  if (!ownSurvey && receiver.ownSurvey) bench.problem('ownSurvey is not claimed, and set')
}

const foreignCorrection = () => arpFrame({ x: 3_925_000, y: 274_000, z: 5_002_000 }, foreignStation)

export async function checkFaults(bench: Bench): Promise<undefined> {
  const { device, receiver, witness } = bench
  const heard = () => witness.reception
  const reports = receiver.can?.reports
  if (reports?.has('antenna')) {
    if (!device.antenna) bench.problem('can.reports has antenna, but the device has no antenna()')
    for (const status of ['short', 'open', 'ok'] as const) {
      if (!device.antenna) break
      const seen = status === 'short' && device.seesNoShort ? 'open' : status
      await device.antenna(status)
      await bench.expect(
        soon_s,
        () => heard()?.antenna === seen,
        () => `an antenna that is ${status} is ${heard()?.antenna} for the station`,
      )
    }
  } else if (heard()?.antenna !== 'unknown') bench.problem(`antenna is not claimed, and ${heard()?.antenna}`)

  for (const [report, fault, state] of [
    ['interference', 'jam', 'jammed'],
    ['spoofing', 'spoof', 'spoofed'],
  ] as const) {
    const isReported = reports?.has(report)
    if (!isReported) {
      if (heard()?.[state] !== undefined) bench.problem(`${report} is not claimed, but ${state} is ${heard()?.[state]}`)
      continue
    }
    const change = device[fault]?.bind(device)
    if (!change) {
      bench.problem(`can.reports has ${report}, but the device has no ${fault}()`)
      continue
    }
    const is = (value: boolean) => () => heard()?.[state] === value
    const otherwise = (value: boolean) => () => `${state} is ${heard()?.[state]}, not ${value}`
    await bench.expect(over_s, is(false), otherwise(false))
    await change(true)
    await bench.expect(over_s, is(true), otherwise(true))
    await change(false)
    await bench.expect(over_s, is(false), otherwise(false))
  }
}
