import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { serialPattern } from '../../../schemas/station.js'
import { RtkError } from '../../errors.js'
import { type ProcessPort, SystemProcesses } from './processes.js'

/** The machine that the service runs on: operations beyond the process. */
export interface Machine {
  /** Restarts the machine. Resolves when it is under way; the service is then stopped like by any shutdown. */
  reboot(): Promise<void>
  /** Switches the machine off. Resolves when it is under way, as a restart. */
  shutDown(): Promise<void>
  /** Ends this run of the service so that it is started again at once. */
  restartService(): void
  /** Sets the system clock, UTC. Rejects where that is not permitted. */
  setSystemTime(utc_ms: number): Promise<void>
  /** Whether something (NTP, PTP) keeps the system clock. */
  isClockSynchronised(): Promise<boolean>
}

/** A Linux machine with systemd. */
export class LinuxMachine implements Machine {
  readonly #restart: () => void
  readonly #processes: ProcessPort

  constructor(restart: () => void, processes: ProcessPort = new SystemProcesses()) {
    this.#restart = restart
    this.#processes = processes
  }

  async reboot(): Promise<void> {
    await this.#run('systemctl', 'reboot')
  }

  async shutDown(): Promise<void> {
    await this.#run('systemctl', 'poweroff')
  }

  restartService(): void {
    this.#restart()
  }

  async setSystemTime(utc_ms: number): Promise<void> {
    await this.#run('date', '--utc', `--set=@${(utc_ms / 1000).toFixed(3)}`)
  }

  async isClockSynchronised(): Promise<boolean> {
    const stdout = await this.#run('timedatectl', 'show', '--property=NTPSynchronized', '--value')
    return stdout.trim() === 'yes'
  }

  async #run(file: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#processes.execFile(file, args)
    if (code === 0) return stdout
    throw new RtkError('RTK_ERR_UNAVAILABLE', `${file} failed with ${code}: ${stderr.trim() || stdout.trim()}`)
  }
}

/**
 * No machine behind it: a reboot restarts the service in place, a shutdown ends it, and the clock of the computer is
 * left alone.
 */
export class SimulatedMachine implements Machine {
  readonly #restart: () => void
  readonly #end: () => void

  constructor(restart: () => void, end: () => void = () => {}) {
    this.#restart = restart
    this.#end = end
  }

  async reboot(): Promise<void> {
    this.#restart()
  }

  async shutDown(): Promise<void> {
    this.#end()
  }

  restartService(): void {
    this.#restart()
  }

  async setSystemTime(): Promise<void> {}

  async isClockSynchronised(): Promise<boolean> {
    return true
  }
}

async function firstLine(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replaceAll('\0', '').trim()
  } catch {
    return ''
  }
}

const pattern = new RegExp(serialPattern)
export const isSerial = (text: unknown): text is string => typeof text === 'string' && pattern.test(text)

/** {SN} of this machine: its device-tree serial, else a hash of its machine id, else random (the caller keeps it). */
export async function machineSerial(): Promise<string> {
  return serialOf(await firstLine('/sys/firmware/devicetree/base/serial-number'), await firstLine('/etc/machine-id'))
}

/** @param deviceTree its serial number, which may be a word that the maker left there, and no {SN} */
export function serialOf(deviceTree: string, machineId: string): string {
  const serial = deviceTree.replaceAll(/[^A-Za-z0-9_-]/g, '').slice(0, 64)
  if (isSerial(serial)) return serial
  const id = machineId || randomBytes(16).toString('hex')
  // Hashed: the machine id is confidential (machine-id(5)), the serial number is public.
  return createHash('sha256').update(`rtk-base:${id}`).digest('hex').slice(0, 12).toUpperCase()
}
