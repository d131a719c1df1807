/** What a receiver must stand, one function each, in the order in which it is asked for. */
import {
  constellationOf,
  distance,
  isMsm,
  median,
  referencePoint,
  sameReference,
} from '../../../runtime/lib/gnss/index.js'
import type { Ecef, ReceiverOutput, ReceiverTarget } from '../../../schemas/services.js'
import type { Bench } from './bench.js'
import { checkFaults, checkReports } from './fault-checks.js'

/** A start with a fix, the start-up check, the reference: as long as a slow receiver takes. */
export const patient_s = 300
const soon_s = 60
/** So long the station shows the newest values. */
const stale_s = 10
/** By then the carrier phases say something, where the receiver has any. */
const watched_s = 40
/** A reload costs no more RTCM where they do; a serial number that does not come is waited for. */
const shortGap_ms = 5_000
const serial_ms = 4_000
const reload_ms = 5_000

/** @returns false when what follows cannot be tested */
type Check = (bench: Bench, plugin: string) => Promise<boolean | undefined>

const isListening = ({ receiver }: Bench) => receiver.mode === 'listening'
const canBeFixed = ({ receiver }: Bench) => (receiver.can?.fixedPosition ?? 'ecef') !== 'none'
const isBase = (bench: Bench) => !isListening(bench) && canBeFixed(bench)
const show = (value: unknown) => JSON.stringify(value)

async function absent(bench: Bench): Promise<undefined> {
  const { device, receiver } = bench
  await device.disconnect()
  await bench.expect(soon_s, () => receiver.link === 'offline', 'link is not offline')
  const { identity, fix, satellites, configured } = receiver
  if (identity.module !== '' || identity.serial !== '') bench.problem(`it has an identity already: ${show(identity)}`)
  if (fix || satellites) bench.problem('it has a fix or satellites already')
  if (configured) bench.problem('configured is true already')
  await refuses(bench, { mode: 'rover' })
  const held = await bench.settled(receiver.readTarget())
  if (held?.status !== 'fulfilled' || held.value !== undefined)
    bench.problem('readTarget does not resolve to undefined')
  if (receiver.sendCorrections(new Uint8Array([0]))) bench.problem('sendCorrections is true')
}

/** `configure` has to reject, with the right code. */
async function refuses(bench: Bench, target: ReceiverTarget): Promise<void> {
  const result = await bench.settled(bench.receiver.configure(target))
  if (!result) bench.problem('configure neither resolves nor rejects')
  else if (result.status === 'fulfilled') bench.problem('configure resolves')
  else if ((result.reason as { code?: string }).code !== 'RTK_ERR_UNAVAILABLE')
    bench.problem(`configure rejects with ${result.reason}, not RTK_ERR_UNAVAILABLE`)
}

async function comes(bench: Bench): Promise<boolean> {
  const { device, receiver, witness } = bench
  await device.connect()
  if (
    !(await bench.expect(
      soon_s,
      () => receiver.link === 'up',
      () => `link is ${receiver.link}, not up`,
    ))
  )
    return false
  await bench.expect(soon_s, () => receiver.identity.module !== '', 'identity.module is empty')
  const texts = Object.values(receiver.identity)
  if (!texts.every((text) => typeof text === 'string')) bench.problem(`identity is ${show(receiver.identity)}`)
  const isFound = () => witness.fixes.some(({ ok, fix }) => ok && fix !== 'none')
  return bench.expect(patient_s, isFound, 'no onFix with a position')
}

async function rover(bench: Bench): Promise<undefined> {
  const { receiver } = bench
  if (isListening(bench)) return
  const isRover = () => receiver.mode === 'rover' && receiver.configured
  if (await bench.expect(soon_s, isRover, () => `it is no configured rover (${show(state(bench))})`))
    await reads(bench, { mode: 'rover' })
  if (bench.witness.sent > 0) bench.problem('RTCM leaves the station before there is a reference')
  // Positions for the reference.
  await bench.seconds(stale_s)
}

const state = ({ receiver: { link, mode, configured }, witness: { status } }: Bench) => ({
  link,
  mode,
  configured,
  status,
})

/** What is read back is what it was put into. */
async function reads(bench: Bench, target: ReceiverTarget): Promise<void> {
  const result = await bench.settled(bench.receiver.readTarget())
  const held = result?.status === 'fulfilled' ? result.value : undefined
  const isSame =
    held?.mode === target.mode &&
    (held.mode !== 'fixed' || target.mode !== 'fixed' || distance(held.arp, target.arp) < 0.001)
  if (!isSame) bench.problem(`readTarget gives ${show(held ?? result)}, not ${show(target)}`)
}

/** Where its antenna is, as the person who sets up the base would enter it. */
function position({ witness: { fixes } }: Bench): Ecef {
  const positions = fixes
    .filter(({ ok, fix }) => ok && fix !== 'none')
    .slice(-60)
    .map(({ position }) => position)
  const axis = (name: keyof Ecef) => Math.round(median(positions.map((at) => at[name])) * 1e4) / 1e4
  return { x: axis('x'), y: axis('y'), z: axis('z') }
}

const enter = ({ station }: Bench, { x, y, z }: Ecef) =>
  station.station.change(
    {
      ...{ 'gnss-ref-manual-x': x, 'gnss-ref-manual-y': y, 'gnss-ref-manual-z': z, 'gnss-ref-manual-acc': 1 },
      ...{ 'gnss-ref-manual-lat': null, 'gnss-ref-manual-lon': null, 'gnss-ref-manual-alt': null },
      'gnss-ref-chosen': 'manual',
    },
    { source: 'plugin' },
  )

async function base(bench: Bench): Promise<boolean> {
  const { receiver, witness } = bench
  if (isListening(bench)) return bench.expectRtcm(patient_s, 'of a receiver that is listened to')
  const here: ReceiverTarget = { mode: 'fixed', arp: position(bench), acc_m: 1 }
  if (!canBeFixed(bench)) {
    await refuses(bench, here)
    return true
  }
  await bench.settled(enter(bench, here.arp))
  if (!(await bench.expectRtcm(patient_s, 'with a reference at its position'))) return false
  if (receiver.mode !== 'fixed' || !receiver.configured)
    bench.problem(`it is no configured base: ${show(state(bench))}`)
  await reads(bench, here)
  const announced = witness.frames.findLast(({ type }) => type === 1005 || type === 1006)
  const arp = announced && referencePoint(announced.bytes)?.arp
  if (!arp || !sameReference(arp, here.arp)) bench.problem(`its 1005 says ${show(arp)}, not ${show(here.arp)}`)
  const { intervals_s } = receiver.can ?? {}
  const observations = receiver.intervals_s?.observations ?? 1
  if (intervals_s && !intervals_s.includes(observations))
    bench.problem(`intervals_s.observations is ${observations}, which can.intervals_s has not`)
  return true
}

/** Each claimed member of `output`, with a value that shows in the messages. */
const choices: Readonly<Record<keyof ReceiverOutput, readonly [parameter: string, value: unknown, clear: unknown]>> = {
  constellations: ['gnss-constellations', ['gps', 'galileo'], []],
  elevationMask_deg: ['gnss-elevation-mask', 15, null],
  msm: ['gnss-msm', 7, null],
  observationInterval_s: ['gnss-msm-interval', 2, null],
  referenceInterval_s: ['gnss-reference-interval', 3, null],
  biasInterval_s: ['gnss-bias-interval', 5, null],
}

/** What a person can choose arrives in the RTCM of the station, and in `output`. */
async function choice(bench: Bench): Promise<boolean | undefined> {
  const { receiver, witness } = bench
  const claimed = [...(receiver.can?.output ?? [])]
  if (!isBase(bench) || claimed.length === 0) return undefined
  const change = (at: 1 | 2) =>
    bench.settled(
      bench.station.station.change(Object.fromEntries(claimed.map((name) => [choices[name][0], choices[name][at]])), {
        source: 'plugin',
      }),
    )
  await change(1)
  if (!(await bench.expectRtcm(patient_s, 'with other satellites and messages'))) return false
  for (const name of claimed) {
    const [parameter, value] = choices[name]
    if (show(receiver.output?.[name]) !== show(value))
      bench.problem(`output.${name} is ${show(receiver.output?.[name])} after ${parameter} ${show(value)}`)
  }
  // QZSS goes with GPS.
  const chosen = new Set<string>(['GPS', 'QZSS', 'Galileo'])
  const from = witness.frames.length
  await bench.seconds(stale_s)
  const sent = [...new Set(witness.frames.slice(from).map(({ type }) => type))]
  for (const type of sent.filter(isMsm)) {
    const system = constellationOf(type)
    if (receiver.can?.output?.has('msm') && type % 10 !== 7) bench.problem(`it sends ${type} after gnss-msm 7`)
    if (receiver.can?.output?.has('constellations') && !chosen.has(system ?? ''))
      bench.problem(`it sends ${type} (${system}) after gnss-constellations gps, galileo`)
  }
  await change(2)
  return bench.expectRtcm(patient_s, 'after the choice was cleared')
}

async function wrongReference(bench: Bench): Promise<boolean | undefined> {
  const { device, witness } = bench
  if (!isBase(bench)) return undefined
  if (!device.wrongReference) return void bench.problem('the device has no wrongReference()')
  await device.wrongReference(true)
  await bench.expect(stale_s, () => !witness.open, 'RTCM is not held')
  await device.wrongReference(false)
  return bench.expectRtcm(patient_s, 'after it was right again')
}

async function silence(bench: Bench): Promise<boolean> {
  const { device, receiver, witness } = bench
  await device.silence(true)
  await bench.expect(
    soon_s,
    () => receiver.link === 'stalled',
    () => `link is ${receiver.link}, not stalled`,
  )
  await bench.seconds(stale_s)
  if (witness.open && !isListening(bench)) bench.problem('the station goes on as if it were heard')
  nothingIsKnown(bench)
  if (!isListening(bench)) await refuses(bench, { mode: 'rover' })
  await device.silence(false)
  await bench.expect(
    soon_s,
    () => receiver.link === 'up',
    () => `link is ${receiver.link}, not up`,
  )
  return bench.expectRtcm(patient_s, 'after it was silent')
}

/** What nobody says any more is unknown. */
function nothingIsKnown(bench: Bench): void {
  const { fix, satellites } = bench.receiver
  if (fix) bench.problem('fix is not undefined')
  if (satellites) bench.problem('satellites is not undefined')
  const { antenna, jammed, spoofed } = bench.witness.reception ?? {}
  if (antenna !== 'unknown' || jammed !== undefined || spoofed !== undefined)
    bench.problem(`the station still takes it for ${show({ antenna, jammed, spoofed })}`)
}

async function restart(bench: Bench): Promise<boolean | undefined> {
  const { device, receiver, witness } = bench
  if (isListening(bench)) return undefined
  if (!device.restart) return void bench.problem('the device has no restart()')
  await bench.seconds(5)
  const since_ms = receiver.sinceReset_ms
  const seen = witness.configured.length
  await device.restart()
  const isNoticed = () => witness.configured.slice(seen).includes(false)
  await bench.expect(soon_s, isNoticed, 'configured does not turn false, with onState')
  const now_ms = receiver.sinceReset_ms
  if (since_ms !== undefined && now_ms !== undefined && now_ms > (soon_s + stale_s) * 1000 && now_ms >= since_ms)
    bench.problem(`sinceReset_ms goes on: ${now_ms}`)
  return canBeFixed(bench) ? bench.expectRtcm(patient_s, 'after it restarted') : undefined
}

async function refusal(bench: Bench): Promise<boolean | undefined> {
  const { device, receiver, witness } = bench
  if (!isBase(bench)) return undefined
  if (!device.refuse) return void bench.problem('the device has no refuse()')
  const arp = position(bench)
  await device.refuse(true)
  // The procedure is told of another reference, and finds out.
  await bench.settled(enter(bench, { ...arp, x: arp.x + 0.01 }))
  await bench.expect(
    patient_s,
    () => witness.status === 'fault',
    () => `the station does not say so (gnss.state.status ${witness.status})`,
  )
  if (witness.open) bench.problem('RTCM goes on')
  await refuses(bench, { mode: 'fixed', arp: { ...arp, x: arp.x + 0.02 }, acc_m: 1 })
  if (receiver.configured) bench.problem('configured is true all the same')
  await device.refuse(false)
  return bench.expectRtcm(patient_s, 'after it refused')
}

async function unplugged(bench: Bench): Promise<boolean> {
  const { device, receiver } = bench
  await device.disconnect()
  await bench.expect(
    soon_s,
    () => receiver.link === 'offline',
    () => `link is ${receiver.link}, not offline`,
  )
  await bench.seconds(stale_s)
  nothingIsKnown(bench)
  if (receiver.configured && !isListening(bench)) bench.problem('configured is still true')
  await device.connect()
  return canBeFixed(bench) ? bench.expectRtcm(patient_s, 'after it was plugged in again') : true
}

async function reload(bench: Bench, plugin: string): Promise<boolean> {
  const before = bench.receiver.identity
  const isWatched = await bench.within(watched_s, () => bench.witness.seesMoves)
  bench.witness.longestGap_ms = 0
  const reloading = bench.station.reload(plugin)
  // Its work takes real time, in which the clock of the station stands: unless it waits for that.
  await Promise.race([reloading.catch(() => {}), new Promise((done) => setTimeout(done, reload_ms))])
  const done = await bench.settled(reloading)
  if (done?.status !== 'fulfilled') bench.problem(`it fails: ${done?.reason ?? 'it takes longer than a minute'}`)
  // Only phases of both sides of the gap say something so soon: not those of a recording that begins anew.
  const isBridged = isWatched && (await bench.within(stale_s, () => bench.witness.seesMoves))
  const isSame = () => show(bench.receiver.identity) === show(before)
  await bench.expect(soon_s, isSame, () => `identity is ${show(bench.receiver.identity)}, not ${show(before)}`)
  if (!canBeFixed(bench)) return true
  const isBack = await bench.expectRtcm(patient_s, 'after a reload')
  const gap_ms = bench.witness.longestGap_ms
  if (isBack && isBridged && gap_ms > shortGap_ms + (before.serial === '' ? serial_ms : 0))
    bench.problem(`RTCM was away for ${gap_ms / 1000} s, though its carrier phases bridge a gap`)
  return isBack
}

export const checks: readonly (readonly [name: string, check: Check])[] = [
  ['while it is not there', absent],
  ['as it comes', comes],
  ['as a rover', rover],
  ['as a base', base],
  ['its reports', checkReports],
  ['its faults', checkFaults],
  ['a choice', choice],
  ['a wrong 1005', wrongReference],
  ['a silence', silence],
  ['a restart', restart],
  ['a refusal', refusal],
  ['unplugged', unplugged],
  ['a reload', reload],
]
