/**
 * The control socket: HTTP on a unix socket in the data folder (mode 0600). `POST /METHOD` with the parameters as a JSON object; the answer
 * is the result as JSON, or with another status than 200 `{ error, message }`.
 */
import { join } from 'node:path'
import { reachSocket } from '../../platform/ports/socket-path.js'

/** Characters of a request at most: a change or a command, which surfaces limit to less. */
export const longestRequest = 64 * 1024
/** Characters of an answer: the status document is the largest, and third-party blocks in it are unbounded. */
export const longestAnswer = 4 * 1024 * 1024

const name = 'control.sock'

/** Where the control socket of a data folder is. */
export const socketFile = (data: string): string => join(data, name)

/** A path to it that a unix socket takes. Valid until `release` is called. */
export const reachControl = (data: string) => reachSocket(data, name)
