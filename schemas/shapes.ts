/** Schemas of values that the services exchange, for what a plugin hands over at a reload. */
import { Type } from 'typebox'
import type { ErrorValues } from './services/device.js'

const number = Type.Number()

/** An `Ecef`. */
export const EcefShape = Type.Object({ x: number, y: number, z: number })
/** An `Enu`. */
export const EnuShape = Type.Object({ east: number, north: number, up: number })

/** The values of a standing error. `ctx.errors.while` leaves out those that it cannot show. */
export const ErrorValuesShape = Type.Unsafe<ErrorValues>(Type.Record(Type.String(), Type.Unknown()))
