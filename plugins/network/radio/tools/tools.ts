import { RtkError } from 'rtk-base/plugin'
import {
  networkErrors,
  type RadioInterface,
  type RadioLink,
  type RadioMachine,
  type RadioStation,
  type RadioTools,
  type Regulatory,
} from 'rtk-base/services'
import { channelOf, combinationsOf, interfaceOf, linkOf, regulatoryOf, stationsOf } from './parse.js'
import { run, Supplicant } from './supplicant.js'

const limit_ms = 5_000
/** The kernel asks for the rules of a country, which come a moment later. */
const countryTries = 10
const countryWait_ms = 200
/** Beacons in which a switch of channel is announced. */
const announced = 5

/** Advice for an error of `iw`, by its error number. */
const advice: Readonly<Record<string, string>> = {
  '-1': 'the service must run as root or with CAP_NET_ADMIN',
  '-16': 'the radio is busy: it is tried again',
  '-19': 'the interface was removed',
  '-22': 'the driver does not take this value',
  '-95': 'this driver cannot do it',
}

/** `iw`, and wpa_supplicant for the functions only it has. */
export class Tools implements RadioTools {
  readonly #machine: RadioMachine
  readonly #supplicant: Supplicant
  readonly #pause: (ms: number) => Promise<void>

  constructor(machine: RadioMachine, pause: (ms: number) => Promise<void>) {
    this.#machine = machine
    this.#supplicant = new Supplicant(machine)
    this.#pause = pause
  }

  async interface(name: string): Promise<RadioInterface> {
    const radioInterface = interfaceOf(await this.#iw(['dev', name, 'info']))
    if (!radioInterface) throw unreadable(`iw dev ${name} info`)
    return radioInterface
  }

  async stations(name: string): Promise<RadioStation[]> {
    const text = await this.#iw(['dev', name, 'station', 'dump'])
    const stations = stationsOf(text)
    if (stations.length === 0 && text.trim() !== '') throw unreadable(`iw dev ${name} station dump`)
    return stations
  }

  async link(name: string): Promise<RadioLink | undefined> {
    const text = await this.#iw(['dev', name, 'link'])
    const link = linkOf(text)
    if (!link && !text.startsWith('Not connected')) throw unreadable(`iw dev ${name} link`)
    return link
  }

  async silence_ms(name: string): Promise<number> {
    const [accessPoint] = await this.stations(name)
    return accessPoint?.inactive_ms ?? 0
  }

  async regulatory(phy?: string): Promise<Regulatory> {
    const rules = regulatoryOf(await this.#iw(['reg', 'get']), phy)
    if (!rules) throw unreadable('iw reg get')
    return rules
  }

  async setCountry(country: string): Promise<void> {
    await this.#iw(['reg', 'set', country])
    let last = ''
    for (let i = 0; i < countryTries; i++) {
      last = (await this.regulatory()).country
      if (last === country) return
      await this.#pause(countryWait_ms)
    }
    throw new RtkError(
      networkErrors.RTK_ERR_NETWORK,
      `the rules of country ${country} could not be applied, those of ${last} remain: the country is unknown, the package wireless-regdb is missing, or the driver has rules of its own`,
    )
  }

  async setTxPower(name: string, dbm: number): Promise<void> {
    await this.#iw(['dev', name, 'set', 'txpower', 'limit', String(Math.round(dbm * 100))])
  }

  async removeStation(name: string, mac: string): Promise<void> {
    await this.#iw(['dev', name, 'station', 'del', mac])
  }

  async announceChannel(name: string, channel: number): Promise<string> {
    const reasons: string[] = []
    for (const [who, run] of [
      ['wpa_supplicant', () => this.#supplicant.announceChannel(name, channel, announced)],
      ['iw', () => this.#iw(['dev', name, 'switch', 'channel', String(channel), 'HT20', 'beacons', String(announced)])],
    ] as const) {
      try {
        await run()
        return who
      } catch (error) {
        reasons.push(`${who}: ${(error as Error).message}`)
      }
    }
    throw new RtkError(networkErrors.RTK_ERR_NETWORK, `no switch of channel could be announced (${reasons.join('; ')})`)
  }

  limits(name: string): Promise<{ maxStations: number; beacon_tu: number }> {
    return this.#supplicant.limits(name)
  }

  setMaxStations(name: string, count: number): Promise<void> {
    return this.#supplicant.setMaxStations(name, count)
  }

  /** Whether this radio can be access point and station at once, and on how many channels. */
  async combinations(name: string): Promise<{ canBoth: boolean; channels: number }> {
    const { phy } = await this.interface(name)
    return combinationsOf(await this.#iw(['phy', phy, 'info']))
  }

  async addAccessPointInterface(name: string, added: string): Promise<void> {
    await this.#iw(['dev', name, 'interface', 'add', added, 'type', '__ap'])
  }

  async removeInterface(name: string): Promise<void> {
    await this.#iw(['dev', name, 'del'])
  }

  async #iw(args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await run(this.#machine, 'iw', args, limit_ms, 'apt install iw')
    if (code === 0) return stdout
    const output = (stderr.trim() || stdout.trim() || `exit code ${code}`).split('\n')[0]?.slice(0, 200)
    const hint = advice[/\((-\d+)\)/.exec(stderr)?.[1] ?? '']
    throw new RtkError(networkErrors.RTK_ERR_NETWORK, `iw ${args.join(' ')}: ${output}${hint ? `: ${hint}` : ''}`)
  }
}

const unreadable = (what: string) =>
  new RtkError(networkErrors.RTK_ERR_NETWORK, `the answer of \`${what}\` cannot be read: another version of iw?`)

export { channelOf }
