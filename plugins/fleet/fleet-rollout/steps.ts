/**
 * Next steps of a rollout. Pure: it reads what is stored and what the stations say, and any instance that starts in the middle of it comes
 * to the same answer.
 *
 * | state of a station | meaning | next |
 * |---|---|---|
 * | waiting | its turn has not come | measuring |
 * | measuring | it is observed before anything is changed | asked, or waiting again |
 * | asked | it was told; told again after a minute, three times | proving, failed |
 * | proving | it says that it is done; it must be fit, deliver epochs, and have no new error | done, failed |
 * | done | it has proved itself | failed, while its wave soaks |
 * | failed | it did not; it was told to go back if it can | |
 * | undone | another one failed while this one was on trial: it was told to go back | |
 */
import { greatCircle_m } from 'rtk-base/gnss'
import { type FleetJudgement, type FleetStation, isPositionWrong } from 'rtk-base/services'
import { observation_s } from './epochs.js'
import { isOpen, type Plan } from './plan.js'

export type TargetState = 'waiting' | 'measuring' | 'asked' | 'proving' | 'done' | 'failed' | 'undone'

/** State of a station before it was changed. */
export interface Before {
  readonly version: string
  readonly errors: readonly string[]
  /** The station published RTCM over MQTT, so it must do so again. */
  readonly hadEpochs: boolean
  /** The position was contradicted by the neighbours already. */
  readonly wasContradicted?: boolean
  /** The position was confirmed by the neighbours. */
  readonly wasConfirmed?: boolean
}
export interface Target {
  readonly serial: string
  readonly wave: number
  readonly state: TargetState
  /** The reason of the state, or why it waits. */
  readonly reason: string
  /** Since when it has this state, UTC seconds. */
  readonly since_s: number
  /** How often it was told. */
  readonly asked: number
  readonly asked_s: number
  /** Since when everything is well while it proves itself, or nothing is once it is done; 0: it is not so. */
  readonly well_s: number
  readonly before: Before | undefined
}
export interface Rollout {
  readonly id: number
  readonly plan: Plan
  /** `stopping`: a person stopped it, and nothing was done about it yet. */
  readonly state: 'running' | 'paused' | 'stopping' | 'stopped' | 'done'
  readonly wave: number
}
export interface View {
  /** By the clock of the database, as the times of targets. */
  readonly now_s: number
  /** By the clock of this instance, as the times at which it heard of stations: the two may be hours apart. */
  readonly stationsNow_s: number
  station(serial: string): FleetStation | undefined
  /** Publications of RTCM in the last half minute; undefined: not observed that long. */
  epochs(serial: string): number | undefined
  /** Connected rovers. */
  rovers(serial: string): number
  /** The judgement of the position that it announces, by its neighbours (service `fleetNet`). */
  judgement(serial: string): Pick<FleetJudgement, 'state' | 'window_s' | 'cause'> | undefined
  /** Stations that other rollouts are changing. */
  readonly elsewhere: readonly FleetStation[]
  /** All stations of the fleet nearer to this one than that, without itself. */
  neighbours(station: FleetStation, apart_km: number): Iterable<FleetStation>
}

export type Action =
  | { readonly do: 'target'; readonly target: Target }
  | { readonly do: 'ask'; readonly target: Target }
  /** The station is told to go back. */
  | { readonly do: 'back'; readonly target: Target }
  | { readonly do: 'wave'; readonly wave: number }
  | { readonly do: 'end'; readonly state: 'stopped' | 'done'; readonly reason: string }

export const measure_s = 35
const askAgain_s = 60
const mostAsked = 3
/** A station of a soaking wave may be unfit for this long: a restart of its receiver is no failure. */
const unfit_s = 180
/** Two windows of its neighbours after a change, and some time to compute them. */
const confirm_s = 9_000
const confirming = 'its neighbours have not confirmed its position yet'
const unconfirmed = 'its neighbours did not confirm its position in 2.5 h'

/** Errors of a station that undid a change by itself, because the change cut it off. They stay until its next change. */
const undoneChange = ['mqtt-broker-change', 'change-rolled-back']

export const isBusy = ({ state }: Pick<Target, 'state'>) =>
  state === 'measuring' || state === 'asked' || state === 'proving'
const isOver = ({ state }: Pick<Target, 'state'>) => state === 'done' || state === 'failed' || state === 'undone'

export function next(rollout: Rollout, targets: readonly Target[], view: View): Action[] {
  const { plan, wave } = rollout
  if (rollout.state === 'stopped' || rollout.state === 'done') return []
  const actions: Action[] = []
  const now = new Map(targets.map((target) => [target.serial, target]))
  const put = (target: Target, also?: 'ask' | 'back') => {
    now.set(target.serial, target)
    actions.push({ do: 'target', target })
    if (also) actions.push({ do: also, target })
  }
  for (const target of targets) {
    const step = stepOf(target, rollout, view)
    if (step) put(step.target, step.also)
  }
  const failed = [...now.values()].filter(({ state }) => state === 'failed')
  if (failed.length > plan.errors || rollout.state === 'stopping') {
    // Whoever is on trial has a way back; what is confirmed keeps running.
    for (const target of [...now.values()].filter(isBusy)) {
      const wasAsked = target.state !== 'measuring'
      const undone: Target = wasAsked
        ? { ...target, state: 'undone', reason: 'the rollout was stopped', since_s: view.now_s }
        : { ...target, state: 'waiting', reason: 'the rollout was stopped', since_s: view.now_s, before: undefined }
      put(undone, wasAsked ? 'back' : undefined)
    }
    const [first] = failed
    const reason = first ? `${failed.length} failed, ${first.serial} first: ${first.reason}` : 'a person stopped it'
    actions.push({ do: 'end', state: 'stopped', reason })
    return actions
  }
  if (rollout.state === 'paused') return actions
  const current = [...now.values()].filter((target) => target.wave === wave)
  if (current.every(isOver)) {
    if (current.some((target) => isUnconfirmed(target, plan, view))) return actions
    const last_s = Math.max(0, ...current.map(({ since_s }) => since_s))
    const isLast = [...now.values()].every((target) => target.wave <= wave)
    if (isLast && view.now_s - last_s >= plan.soak_s) actions.push({ do: 'end', state: 'done', reason: '' })
    else if (view.now_s - last_s >= plan.soak_s) actions.push({ do: 'wave', wave: wave + 1 })
    return actions
  }
  begin(plan, [...now.values()], current, view, put)
  return actions
}

function stepOf(target: Target, { plan }: Rollout, view: View): { target: Target; also?: 'ask' | 'back' } | undefined {
  const station = view.station(target.serial)
  const { now_s } = view
  const to = (state: TargetState, reason = '', more: Partial<Target> = {}): Target => ({
    ...{ ...target, state, reason, since_s: now_s, well_s: 0 },
    ...more,
  })
  const fail = (reason: string) => ({ target: to('failed', reason), also: 'back' as const })
  switch (target.state) {
    case 'measuring': {
      const epochs = view.epochs(target.serial)
      if (now_s - target.since_s < measure_s || epochs === undefined) {
        return now_s - target.since_s > 4 * Math.max(measure_s, observation_s(station?.rtcm.rate_s ?? 0))
          ? { target: to('waiting', 'it could not be observed') }
          : undefined
      }
      const trouble = unready(target.serial, station, plan, view)
      if (trouble || !station) return { target: to('waiting', trouble || 'unknown') }
      const before = {
        version: station.version,
        errors: station.errors,
        hadEpochs: epochs > 0,
        ...(isPositionWrong(view.judgement(target.serial)) && { wasContradicted: true }),
        ...(view.judgement(target.serial)?.state === 'agrees' && { wasConfirmed: true }),
      }
      return { target: to('asked', '', { before, asked: 1, asked_s: now_s }), also: 'ask' }
    }
    case 'asked': {
      if (station && isReached(plan, station)) return { target: to('proving', '') }
      if (station?.update.failed && 'image' in plan.what) return fail('the station reports that its update failed')
      if (now_s - target.since_s > plan.limit_s) return fail('it did not do it in time')
      if (now_s - target.asked_s < askAgain_s || station?.online !== 'online') return undefined
      if (isUpdating(station)) return undefined
      if (target.asked >= mostAsked) return fail('it was told three times and did not do it')
      return { target: { ...target, asked: target.asked + 1, asked_s: now_s }, also: 'ask' }
    }
    case 'proving': {
      if (
        station &&
        'image' in plan.what &&
        station.version === target.before?.version &&
        station.version !== plan.what.version
      )
        return fail(`it went back to ${station.version}`)
      const undone = 'change' in plan.what && undoneBy(target, station, view)
      if (undone) return fail(`it undid the change: ${undone}`)
      const trouble = unproven(target, station, view)
      if (now_s - target.since_s > plan.limit_s) return fail(trouble || 'it was not well for long enough')
      if (trouble)
        return target.well_s === 0 && target.reason === trouble
          ? undefined
          : { target: { ...target, reason: trouble, well_s: 0 } }
      if (target.well_s === 0) return { target: { ...target, reason: '', well_s: now_s } }
      return now_s - target.well_s >= plan.prove_s ? { target: to('done') } : undefined
    }
    case 'done': {
      const age_s = now_s - target.since_s
      const isConfirming = isUnconfirmed(target, plan, view)
      // Neighbours of the same wave are judged as well: each is a target itself.
      if (age_s <= Math.max(plan.soak_s, plan.position ? confirm_s : 0) && isNewlyContradicted(target, view))
        return fail('its neighbours contradict its position afterwards')
      const reason = isConfirming ? confirming : target.reason === confirming && age_s > confirm_s ? unconfirmed : ''
      if (reason !== target.reason && target.reason !== unconfirmed) return { target: { ...target, reason } }
      // Only while it soaks: later it is an ordinary station again.
      if (age_s > plan.soak_s && !isConfirming) return undefined
      const isDown = station?.online !== 'online' || station.verdict === 'unfit' || station.verdict === 'unknown'
      if (!isDown) return target.well_s === 0 ? undefined : { target: { ...target, well_s: 0 } }
      // Its own times are by another clock.
      if (station && target.well_s === 0) return { target: { ...target, well_s: now_s } }
      return !station || now_s - target.well_s >= unfit_s
        ? fail(`it became ${station?.verdict ?? 'unknown'} (${station?.cause ?? ''}) afterwards`)
        : undefined
    }
    default:
      return undefined
  }
}

/** Told by the answer to a change, see the engine; of an image by the version. */
const isReached = ({ what }: Plan, station: FleetStation) =>
  'image' in what && station.online === 'online' && station.version === what.version

const isUpdating = ({ update }: FleetStation) => !['', 'idle', 'failed'].includes(update.state)

/** Why a station cannot be begun; '': it can. */
function unready(serial: string, station: FleetStation | undefined, plan: Plan, view: View): string {
  if (!station) return 'it is unknown'
  if (station.online !== 'online') return `it is ${station.online}`
  if (isUpdating(station)) return 'an update is under way'
  const rovers = view.rovers(serial)
  if (rovers > 0 && !plan.force) return `${rovers} rovers are connected`
  return ''
}

/** The error with which a station says that it undid the change; an older document may tell of an earlier change. */
const undoneBy = ({ since_s }: Target, station: FleetStation | undefined, { now_s, stationsNow_s }: View) =>
  station && stationsNow_s - station.document_s < now_s - since_s
    ? station.errors.find((code) => undoneChange.includes(code))
    : undefined

const isNewlyContradicted = ({ serial, before }: Pick<Target, 'serial' | 'before'>, view: View) =>
  isPositionWrong(view.judgement(serial)) && !before?.wasContradicted

/** The plan waits until the position is confirmed again, mainly by windows that began after the change. */
function isUnconfirmed({ serial, state, since_s, before }: Target, { position }: Plan, view: View): boolean {
  if (!position || state !== 'done' || !before?.wasConfirmed || view.now_s - since_s > confirm_s) return false
  const judgement = view.judgement(serial)
  return judgement?.state !== 'agrees' || judgement.window_s < since_s
}

/** Reason why a station has not proved itself yet; '': it has. */
function unproven({ serial, before }: Target, station: FleetStation | undefined, view: View): string {
  if (!station) return 'it is unknown'
  if (station.online !== 'online') return `it is ${station.online}`
  if (isUpdating(station)) return `its update is ${station.update.state}`
  if (station.verdict !== 'fit') return `it is ${station.verdict}: ${station.cause}`
  const added = station.errors.filter((code) => !before?.errors.includes(code))
  if (added.length > 0) return `new errors: ${added.join(', ')}`
  if (isNewlyContradicted({ serial, before }, view)) return 'its neighbours contradict its position'
  const epochs = view.epochs(serial)
  if (before?.hadEpochs && !epochs) return epochs === 0 ? 'no RTCM arrives at the broker' : 'its RTCM is being observed'
  return ''
}

/** Begins stations of the wave, as many as may be changed at once. */
function begin(
  plan: Plan,
  all: readonly Target[],
  current: readonly Target[],
  view: View,
  put: (target: Target) => void,
): void {
  const busy = all.filter(isBusy).map(({ serial }) => view.station(serial))
  const taken = [...busy, ...view.elsewhere].filter((station) => station !== undefined)
  let free = plan.atOnce - busy.length
  for (const target of current) {
    if (target.state !== 'waiting') continue
    const station = view.station(target.serial)
    const reason = waitsFor(target.serial, station, plan, view, free, taken) || whyLastFit(station, plan, view, all)
    if (reason === '' && station) {
      put({ ...target, state: 'measuring', reason: '', since_s: view.now_s, before: undefined })
      taken.push(station)
      free -= 1
    } else if (reason !== target.reason) put({ ...target, reason })
  }
}

function waitsFor(
  serial: string,
  station: FleetStation | undefined,
  plan: Plan,
  view: View,
  free: number,
  taken: readonly FleetStation[],
): string {
  if (!isOpen(plan, view.now_s)) return 'outside the time window'
  const trouble = unready(serial, station, plan, view)
  if (trouble || !station) return trouble
  const near = taken.find((other) => other.serial === serial || isNear(other, station, plan.apart_km))
  if (near)
    return near.serial === serial ? 'another rollout changes it' : `its neighbour ${near.serial} is being changed`
  return free > 0 ? '' : 'others are being changed'
}

const isServing = ({ online, verdict }: FleetStation) => online === 'online' && verdict === 'fit'

/** Why rovers near this station would be left without a fit base; '': they would not, or nobody else ever served them. */
function whyLastFit(station: FleetStation | undefined, plan: Plan, view: View, all: readonly Target[]): string {
  if (!station || plan.force || !isServing(station)) return ''
  const neighbours = [...view.neighbours(station, plan.apart_km)]
  const broken = neighbours.find(
    (one) => !isServing(one) && all.some(({ serial, state }) => serial === one.serial && isOver({ state })),
  )
  if (broken) return `its neighbour ${broken.serial} was changed and is not fit`
  const [first] = neighbours
  if (!first || neighbours.some(isServing)) return ''
  return `it is the only fit base: its neighbour ${first.serial} is ${first.online === 'online' ? first.verdict : first.online}`
}

/** A station of unknown place may be anywhere: it is the neighbour of all others of unknown place. */
export function isNear({ place: one }: FleetStation, { place: other }: FleetStation, apart_km: number): boolean {
  if (!one || !other) return !one && !other
  return greatCircle_m(one, other) < 1_000 * apart_km
}
