import type { DeviceOptions } from 'rtk-base/simulation'
import { type Static, Type } from 'typebox'

/** Options of a UM980 alone. */
export const ownOptions = {
  com: Type.Integer({ default: 3, minimum: 1, maximum: 3, description: 'Port of the receiver: COM1 to COM3' }),
}
const Own = Type.Object(ownOptions)
export type Um980Options = DeviceOptions & Static<typeof Own>
