/** Rovers come from addresses of their own, and a station gives each address a few places: so each client of a bench has one of the loopback network. */

const perNet = 250
let used = 0

/** Reserves consecutive client numbers, unique in this process. @returns the first */
export function clientNumbers(count: number): number {
  used += count
  return used - count
}

/** From 127.1.0.1 on: 127.0.0.1 is that of the servers. */
export function addressOf(client: number): string {
  const net = Math.floor(client / perNet)
  return `127.${1 + Math.floor(net / perNet)}.${net % perNet}.${1 + (client % perNet)}`
}
