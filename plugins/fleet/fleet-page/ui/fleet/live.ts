/** The stations as the fleet tells them: the whole list after each connection, then what changes. */
import { batch, computed, signal } from '@preact/signals'
import { EventStream } from '../../../../../runtime/lib/page/ui/event-stream.js'
import { isReadOnly, loginWanted, session, sessions } from '../../../../../runtime/lib/page/ui/http.js'
import { type About, type Entry, type FleetRole, fleetApi, type Me, type StationRow } from './api.js'

type Change = StationRow | { readonly serial: string; readonly gone: true }

const rows = new Map<string, StationRow>()
/** Counts changes: the rows themselves are too many to be copied each second. */
const revision = signal(0)
export const isLoaded = signal(false)
export const inContact = signal(true)
export const about = signal<About | undefined>(undefined)
export const me = signal<Me | undefined>(undefined)
/** The newest entries of the record since the page was opened, the newest first. */
export const newEntries = signal<readonly Entry[]>([])
const mostEntries = 200
const again_ms = 5_000

export const stations = computed<readonly StationRow[]>(() => {
  revision.value
  return [...rows.values()]
})
export const stationOf = (serial: string): StationRow | undefined => {
  revision.value
  return rows.get(serial)
}

const ranks: Readonly<Record<FleetRole, number>> = { viewer: 0, operator: 1, admin: 2 }
export const may = (role: FleetRole): boolean => ranks[me.value?.role ?? 'viewer'] >= ranks[role]
export const hasPart = (part: string): boolean => about.value?.parts.includes(part) === true

/** Changes that came while the list was on its way; undefined: it is here. */
let early: Change[] | undefined

function apply(changes: readonly Change[]): void {
  for (const change of changes) {
    if ('gone' in change) rows.delete(change.serial)
    else rows.set(change.serial, change)
  }
  revision.value += 1
}

async function readAll(): Promise<void> {
  const own: Change[] = []
  early = own
  try {
    const list = await fleetApi.stations()
    // A later reading has begun meanwhile.
    if (early !== own) return
    early = undefined
    batch(() => {
      rows.clear()
      apply([...list, ...own])
      isLoaded.value = true
    })
  } catch {
    if (early === own && loginWanted.value === '') setTimeout(() => early === own && void readAll(), again_ms)
  }
}

/** Reads who the reader is, and which parts there are. */
export async function readSelf(): Promise<void> {
  const [who, what, login] = await Promise.all([fleetApi.me(), fleetApi.about(), sessions.session()])
  batch(() => {
    me.value = who
    about.value = what
    session.value = login
    isReadOnly.value = who.role === 'viewer'
  })
}

const stream = new EventStream('/fleet/live', (source) => {
  source.addEventListener('open', () => {
    stream.heard()
    inContact.value = true
    void readAll()
    readSelf().catch(() => {})
  })
  source.addEventListener('error', () => {
    inContact.value = false
  })
  source.addEventListener('stations', ({ data }: MessageEvent<string>) => {
    const changes = JSON.parse(data) as Change[]
    if (early) early.push(...changes)
    else apply(changes)
  })
  source.addEventListener('record', ({ data }: MessageEvent<string>) => {
    const entries = JSON.parse(data) as Entry[]
    newEntries.value = [...entries.reverse(), ...newEntries.value].slice(0, mostEntries)
  })
})

/** Begins again, as after a login. */
export const listen = (): void => stream.listen()
export const stopListening = (): void => stream.stop()
export const follow = (): void => stream.follow()
