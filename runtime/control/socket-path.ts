import { join } from 'node:path'
import { reachSocket } from '../ports/socket-path.js'

const name = 'control.sock'

/** Where the control socket of a data folder is. */
export const socketFile = (data: string): string => join(data, name)

/** A path to it that a unix socket takes. Valid until `release` is called. */
export const reachControl = (data: string) => reachSocket(data, name)
