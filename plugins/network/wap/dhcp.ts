import { RtkError } from 'rtk-base/plugin'
import { networkErrors, type Radio } from 'rtk-base/services'

export interface DhcpFolders {
  /** `dnsmasq-shared.d` of NetworkManager */
  readonly dropIn: string
  /** Where NetworkManager writes the process id of its dnsmasq. */
  readonly run: string
}

const limit_ms = 5_000

/** NetworkManager's dnsmasq. It has no control interface: extra settings go to a file in `dnsmasq-shared.d`. */
export class DhcpServer {
  readonly #folders: DhcpFolders

  constructor(folders: DhcpFolders) {
    this.#folders = folders
  }

  get #dropIn(): string {
    return `${this.#folders.dropIn}/rtk-base.conf`
  }

  /** Written before the access point starts; counts from that start. */
  async configure({ machine }: Radio, maxStations: number): Promise<void> {
    const text = [
      '# Written by rtk-base (plugin wap); changes are lost.',
      // Room for clients that left with a running lease.
      `dhcp-lease-max=${Math.max(16, maxStations * 4)}`,
      // A client that asks for the address of another network gets one of this network at once.
      'dhcp-authoritative',
      '',
    ].join('\n')
    if ((await machine.readFile(this.#dropIn)) !== text) await machine.writeFile(this.#dropIn, text)
  }

  async removeConfiguration({ machine }: Radio): Promise<void> {
    await machine.removeFile(this.#dropIn)
  }

  /**
   * Makes the DHCP and DNS server forget its cache and read hosts and leases again; clients stay. NetworkManager ends the
   * access point when the process itself ends, so that is not done.
   * @throws RTK_ERR_UNAVAILABLE when it does not run
   */
  async reload({ machine }: Radio, name: string): Promise<void> {
    const path = `${this.#folders.run}/nm-dnsmasq-${name}.pid`
    const pid = /^\d{1,10}\s*$/.exec((await machine.readFile(path)) ?? '')?.[0].trim()
    const command = pid === undefined ? undefined : await machine.readFile(`/proc/${pid}/cmdline`)
    // A number that another process has by now gets no signal.
    if (pid === undefined || !command?.split('\0')[0]?.endsWith('dnsmasq'))
      throw new RtkError(
        'RTK_ERR_UNAVAILABLE',
        `the DHCP server of ${name} does not run (${path}): restart-wap starts it together with the access point; is dnsmasq-base installed?`,
      )
    const { code, stderr } = await machine.execFile('kill', ['-HUP', pid], { timeout_ms: limit_ms })
    if (code !== 0)
      throw new RtkError(
        networkErrors.RTK_ERR_NETWORK,
        `the DHCP server (process ${pid}) could not be signalled: ${stderr.trim().slice(0, 200)}`,
      )
  }
}
