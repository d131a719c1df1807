/** Fields of an answer, as a map of field paths: the first path that has a value counts. */
import { networkOf, packetServiceOf, plmnOf, slotOf, tenthsOf } from './modem-values.js'
import { type Fields, fieldOf, isObject, isOn, macOf, textOf } from './parse.js'

/** @param path such as `cache.imei` or `cell_info.0.mcc` */
export const at = (answer: unknown, path: string): unknown => fieldOf(answer, ...path.split('.'))

const by =
  <O>(unit: (...values: readonly unknown[]) => O) =>
  (...paths: readonly string[]) =>
  (answer: unknown): O =>
    unit(...paths.map((path) => at(answer, path)))

export const text = by(textOf)
/** A text that the operation fails without. */
export const name = by((...values) => textOf(...values) || undefined)
export const on = by(isOn)
export const mac = by(macOf)
/** In 0.1 °C. */
export const tenths = by(tenthsOf)
export const slot = by(slotOf)
export const plmn = by(plmnOf)
/** Number and text of the state. */
export const network = by(networkOf)
export const packetService = by(packetServiceOf)

type Units = Readonly<Record<string, (answer: unknown) => unknown>>
type Reading<F extends Units> = { [K in keyof F]: ReturnType<F[K]> }

export const fields =
  <F extends Units>(units: F) =>
  (answer: unknown): Reading<F> =>
    Object.fromEntries(Object.entries(units).map(([key, unit]) => [key, unit(answer)])) as Reading<F>

/** Undefined for an answer that has no fields at all. */
export const object =
  <O>(read: (answer: Fields) => O) =>
  (answer: unknown): O | undefined =>
    isObject(answer) ? read(answer) : undefined
