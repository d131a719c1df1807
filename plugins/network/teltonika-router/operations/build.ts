/** Small words that the rows of the table are written with. */
import { limits_ms, type RestCall, type UbusCall } from '../transport/call.js'
import type { FactName, RouterFactIds, Way } from './operations.js'
import { type Fields, fieldOf, firstOf, isObject, isOn, listOf, outputOf, textOf } from './parse.js'

type More = Pick<UbusCall, 'limit_ms' | 'optional' | 'accepts'>
type RestMore = Pick<RestCall, 'limit_ms' | 'optional'>

export const optional = { optional: true }
/** Options of calls to the modem. */
export const slow = { limit_ms: limits_ms.info }

export const ubus = (object: string, method: string, args: UbusCall['args'] = {}, more: More = {}): UbusCall => ({
  object,
  method,
  args,
  ...more,
})
export const run = (command: string, params: readonly string[], more: More = {}) =>
  ubus('file', 'exec', { command, params: [...params] }, more)
export const gsmctl = (params: readonly string[], more: More = {}) => run('gsmctl', params, more)
export const uciGet = (config: string, section?: string, more: More = {}) =>
  ubus('uci', 'get', section === undefined ? { config } : { config, section }, more)
export const uciSet = (config: string, section: string, values: Readonly<Record<string, unknown>>, more: More = {}) =>
  ubus('uci', 'set', { config, section, values }, more)
export const uciCommit = (config: string, more: More = {}) => ubus('uci', 'commit', { config }, more)

export const get = (path: string, more: RestMore = {}): RestCall => ({ verb: 'GET', path, ...more })
export const put = (path: string, data: unknown, more: RestMore = {}): RestCall => ({
  verb: 'PUT',
  path,
  data,
  ...more,
})
export const post = (path: string, data?: unknown, more: RestMore = {}): RestCall =>
  data === undefined ? { verb: 'POST', path, ...more } : { verb: 'POST', path, data, ...more }

/** Both generations do it in the same way over ubus. */
export const overUbus = <W>(...ways: W[]) => ({ 'legacy/ubus': ways, '7/ubus': ways })

/** One call, without input. */
export const ask = <O>(call: UbusCall | RestCall, read: (answer: unknown) => O | undefined): Way<undefined, O> => ({
  calls: () => [call],
  read: ([answer]) => read(answer),
})

/** One call that needs facts. */
export const askWith = <O>(
  needs: readonly FactName[],
  call: (facts: RouterFactIds) => UbusCall | RestCall,
  read: (answer: unknown, facts: RouterFactIds) => O | undefined,
): Way<undefined, O> => ({
  needs,
  calls: (_input, facts) => [call(facts)],
  read: ([answer], _input, facts) => read(answer, facts),
})

/** A way that changes something and gives nothing. */
export function write<I>(way: Omit<Way<I, true>, 'read' | 'writes'>): Way<I, true> {
  return { ...way, writes: true, read: () => true }
}

/** For a command that has to end with 0. */
export const mustSucceed = { accepts: (answer: unknown) => outputOf(answer) !== undefined }
/** `gsmctl -A` prints what the modem answered. */
export const modemAccepts = { accepts: (answer: unknown) => !/error/i.test(outputOf(answer) ?? 'error') }

/** Output of `gsmctl` for "not available". */
const nothing = /^(n\/?a|unknown|none|-|error.*|not available)$/i

/** Output of a command of the legacy generation; `''` for "not available". */
export function printed(answer: unknown): string {
  const text = textOf(outputOf(answer))
  return nothing.test(text) ? '' : text
}

/** One line for each flag: the way in which `gsmctl` answers joined ones. */
function linesOf(answer: unknown, count: number): string[] | undefined {
  if (outputOf(answer) === undefined) return undefined
  const lines = String(fieldOf(answer, 'stdout')).replace(/\n$/, '').split('\n')
  return lines.length === count ? lines.map((line) => printed({ stdout: line })) : undefined
}

/** Queries `gsmctl` for each letter: in one run, which takes a second on a slow router, otherwise one by one. */
export function asked<O>(letters: string, read: (texts: readonly string[]) => O): Way<undefined, O>[] {
  const flags = [...letters].map((letter) => `-${letter}`)
  return [
    {
      isTrial: true,
      calls: () => [gsmctl([`-${letters}`], slow)],
      read([answer]) {
        const lines = linesOf(answer, letters.length)
        return lines && read(lines)
      },
    },
    {
      together: true,
      calls: () => flags.map((flag) => gsmctl([flag], { ...optional, ...slow })),
      read: (answers) =>
        answers.some((answer) => outputOf(answer) !== undefined) ? read(answers.map(printed)) : undefined,
    },
  ]
}

/** The modem of `GET /api/modems/status` that mob1… belongs to: the primary one, else the first. */
export function usedModem(answer: unknown): unknown {
  return listOf(answer).find((one) => isOn(fieldOf(one, 'primary'))) ?? firstOf(answer)
}

/** The modem's values from REST: an offline modem has none. */
export const modemStatus = <O>(read: (modem: Fields) => O | undefined): Way<undefined, O> =>
  ask(get('/api/modems/status', slow), (answer) => {
    const modem = usedModem(answer)
    return isObject(modem) ? read(modem) : undefined
  })

/** Modem objects of 7.x over ubus: `gsm.modem0`, and `vuci.*` of its first releases. */
export const modem = 'gsm.modem0'
export const mobile = 'vuci.network.mobile'
/** Mobile interface by the slot of the SIM in use; legacy routers have one for both. */
export const mobileSection = (slot: string) => `mob1s${slot}a1`
