/** Lengths and offsets in the notation of the reader. */
import { lengthText as lengthOf } from '../model/gnss/geodesy.js'
import { enuText as enuOf } from '../model/gnss/positions.js'
import { notation } from './index.js'

export const lengthText = (metres: number): string => notation(lengthOf(metres))
export const enuText = (offset: Parameters<typeof enuOf>[0]): string => notation(enuOf(offset))
