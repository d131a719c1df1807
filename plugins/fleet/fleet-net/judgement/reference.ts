/** Reads from a status document how the announced position was determined. Pure; nothing from outside is trusted. */
import { announcedAs, distance, epochNamed, frameNamed, type PlateName, plates } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'

/** How the announced position of a station was determined, as its document says. */
export interface Reference {
  /** `''`: unknown, or the document is about another position. */
  readonly method: 'manual' | 'survey' | ''
  /** The frame of the announced coordinates, in the words of the station; `''`: unknown. */
  readonly frame: string
  /** Decimal year; 0: unknown. */
  readonly epoch: number
  /** Tectonic plate; `''`: unknown. */
  readonly plate: PlateName | ''
  /** 3D, 1 sigma, metres; 0: unknown. */
  readonly accuracy_m: number
  readonly antenna: {
    /** IGS name; `''`: unknown. */
    readonly descriptor: string
    readonly serial: string
    /** Antenna reference point above the marker, metres; 0: unknown or none. */
    readonly height_m: number
  }
}

/** The document of a station has the position to 0.1 mm. */
const same_m = 0.005
/** More is no accuracy. */
const mostAccuracy_m = 1_000
const mostHeight_m = 100
const mostText = 32

type Json = Record<string, unknown>
const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const text = (value: unknown): string =>
  typeof value === 'string' ? value.replace(/[^\x20-\x7e]/g, '').slice(0, mostText) : ''
const number = (value: unknown, most: number): number =>
  typeof value === 'number' && value > 0 && value <= most ? value : 0
const isPlate = (name: string): name is PlateName => Object.hasOwn(plates, name)

/** @param arp announced position: what a document says about another position is not used */
export function referenceOf(document: Record<string, unknown> | undefined, arp: Ecef): Reference {
  const gnss = object(document?.gnss)
  const antenna = object(object(gnss.rtcm).antenna)
  const found = {
    descriptor: text(antenna.descriptor),
    serial: text(antenna.serial),
    height_m: number(antenna.height, mostHeight_m),
  }
  const ref = object(gnss.ref)
  const method = ref.chosen === 'manual' || ref.chosen === 'survey' ? ref.chosen : ''
  const chosen = object(ref[method])
  const wish = object(ref.announced)
  const plate = text(wish.plate)
  const given = { frame: text(chosen.frame), epoch: epochNamed(text(chosen.epoch)) ?? 0 }
  const announced = announcedOf(chosen, given, {
    frame: text(wish.frame),
    epoch: epochNamed(String(number(wish.epoch, 2_100))) ?? 0,
    plate: isPlate(plate) ? plate : '',
  })
  if (!(distance(announced.position, arp) <= same_m))
    return { method: '', frame: '', epoch: 0, plate: '', accuracy_m: 0, antenna: found }
  const { frame, epoch } = announced
  return {
    ...{ method, frame, epoch, plate: isPlate(plate) ? plate : '' },
    ...{ accuracy_m: number(chosen.acc, mostAccuracy_m), antenna: found },
  }
}

interface Given {
  readonly frame: string
  readonly epoch: number
}

/** As the station announces it: in another frame than it was determined in, if both are known. */
function announcedOf(chosen: Json, given: Given, wish: Given & { plate: PlateName | '' }) {
  const coordinate = (value: unknown) => (typeof value === 'number' ? value : Number.NaN)
  const position = { x: coordinate(chosen.x), y: coordinate(chosen.y), z: coordinate(chosen.z) }
  const frame = frameNamed(given.frame)
  if (!frame || !given.epoch || !Number.isFinite(position.x + position.y + position.z)) return { position, ...given }
  const plate = wish.plate || undefined
  const wanted = { frame: frameNamed(wish.frame), epoch: (plate && wish.epoch) || undefined, plate }
  const found = announcedAs({ position, frame, epoch: given.epoch }, wanted)
  return { ...found, frame: wanted.frame ?? given.frame }
}
