/** Lengths, offsets and signals in the notation of the reader. */
import { lengthText as lengthOf } from '../model/gnss/geodesy.js'
import { enuText as enuOf } from '../model/gnss/positions.js'
import { figure, notation } from './index.js'

export const lengthText = (metres: number): string => notation(lengthOf(metres))
export const enuText = (offset: Parameters<typeof enuOf>[0]): string => notation(enuOf(offset))
/** A signal beside its words: it is not broken at its minus or before its unit. */
export const dbmText = (dbm: number): string => `\u2212${figure(Math.abs(dbm), 0)}\u00a0dBm`
