/** Definition of an object on the bus. */
import type { Device } from '../device/device.js'
import type { Session } from '../device/logins.js'

/** Status of the bus, in `result[0]` (reference §1.2). */
export const ubusStatus = {
  ok: 0,
  invalidArgument: 2,
  methodNotFound: 3,
  notFound: 4,
  noData: 5,
  permissionDenied: 6,
  timeout: 7,
  notSupported: 8,
} as const

export type Args = Readonly<Record<string, unknown>>
export type Reply = readonly [status: number] | readonly [status: number, data: unknown]
export interface Call {
  device: Device
  /** Undefined: the null session. */
  session: Session | undefined
  /** From the request. */
  sid: string
  /** Where the request comes from. */
  address: string
}
export type Method = (args: Args, call: Call) => Reply | Promise<Reply>
export interface UbusObject {
  /** False: this router does not have it (now). Without it: it always has. */
  present?: (device: Device) => boolean
  methods: Readonly<Record<string, Method>>
}
export type Objects = Readonly<Record<string, UbusObject>>

export const done: Reply = [ubusStatus.ok]
export const ok = (data: unknown): Reply => [ubusStatus.ok, data]
export const failed = (status: number): Reply => [status]

/** An argument of another type is ignored, as by the policy of a method. */
export const text = (args: Args, name: string): string | undefined => {
  const value = args[name]
  return typeof value === 'string' ? value : undefined
}
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
