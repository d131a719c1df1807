import { RtkError } from 'rtk-base/plugin'
import { networkErrors, type RadioMachine } from 'rtk-base/services'

const limit_ms = 5_000
const service = 'fi.w1.wpa_supplicant1'
const root = '/fi/w1/wpa_supplicant1'
const interfaceOf = `${service}.Interface`
/** Time units between two beacons where nothing else is set (IEEE 802.11 default of wpa_supplicant). */
const defaultBeacon_tu = 100

/** wpa_supplicant, through `busctl` (its D-Bus object) and `wpa_cli` (its control socket). */
export class Supplicant {
  readonly #machine: RadioMachine

  constructor(machine: RadioMachine) {
    this.#machine = machine
  }

  async limits(name: string): Promise<{ maxStations: number; beacon_tu: number }> {
    const path = await this.#path(name)
    const [most, beacon] = await this.#properties(path, ['MaxNumSta', 'BeaconInt'])
    return { maxStations: most ?? 0, beacon_tu: beacon === 0 || beacon === undefined ? defaultBeacon_tu : beacon }
  }

  async setMaxStations(name: string, count: number): Promise<void> {
    const path = await this.#path(name)
    await this.#busctl(['set-property', service, path, interfaceOf, 'MaxNumSta', 's', String(count)])
    const [now] = await this.#properties(path, ['MaxNumSta'])
    if (now !== count)
      throw new RtkError(
        networkErrors.RTK_ERR_NETWORK,
        `wpa_supplicant keeps ${now ?? 'no'} as the most clients, not ${count}`,
      )
  }

  async announceChannel(name: string, channel: number, beacons: number): Promise<void> {
    const args = ['-i', name, 'chan_switch', String(beacons), String(2_407 + 5 * channel), 'bandwidth=20', 'ht']
    const { code, stdout, stderr } = await run(this.#machine, 'wpa_cli', args, limit_ms, 'apt install wpasupplicant')
    // It answers 0 also where it was refused.
    if (code === 0 && /^OK$/m.test(stdout)) return
    const output = (stdout.trim() || stderr.trim() || `exit code ${code}`).split('\n').at(-1)?.slice(0, 200)
    throw new RtkError(networkErrors.RTK_ERR_NETWORK, `wpa_cli chan_switch: ${output}`)
  }

  async #path(name: string): Promise<string> {
    const text = await this.#busctl(['call', service, root, service, 'GetInterface', 's', name])
    const path = /^o "(\/[\w/]+)"/.exec(text)?.[1]
    if (path === undefined) throw new RtkError(networkErrors.RTK_ERR_NETWORK, `wpa_supplicant does not manage ${name}`)
    return path
  }

  /** Configuration fields of wpa_supplicant are texts: `s "128"`, one a line. */
  async #properties(path: string, names: readonly string[]): Promise<(number | undefined)[]> {
    const lines = (await this.#busctl(['get-property', service, path, interfaceOf, ...names])).split('\n')
    return names.map((_name, index) => {
      const digits = /^s "(\d{1,6})"$/.exec(lines[index]?.trim() ?? '')?.[1]
      return digits === undefined ? undefined : Number(digits)
    })
  }

  async #busctl(args: readonly string[]): Promise<string> {
    const all = ['--system', '--timeout=4', ...args]
    const { code, stdout, stderr } = await run(this.#machine, 'busctl', all, limit_ms, 'busctl is part of systemd')
    if (code === 0) return stdout
    const output = (stderr.trim() || `exit code ${code}`).split('\n')[0]?.slice(0, 200)
    throw new RtkError(networkErrors.RTK_ERR_NETWORK, `wpa_supplicant: ${output}`)
  }
}

/** @param missing advice for a missing program. @throws RTK_ERR_NETWORK */
export async function run(
  machine: RadioMachine,
  file: string,
  args: readonly string[],
  timeout_ms: number,
  missing: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  try {
    return await machine.execFile(file, args, { timeout_ms })
  } catch (error) {
    const { code, message } = error as RtkError
    if (code === 'RTK_ERR_ABORTED') throw error
    const hint = code === 'RTK_ERR_PROCESS_NOT_FOUND' ? ` (${missing})` : ''
    throw new RtkError(networkErrors.RTK_ERR_NETWORK, `${message}${hint}`, { cause: error })
  }
}
