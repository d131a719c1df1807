/** What the host of a virtual machine takes from it: "steal" in /proc/stat (proc(5)), 10 ms fine. On a machine of its own it stays 0. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { cpus } from 'node:os'
import { unixNow_ms } from './edges.js'
import type { Measurement } from './measurement.js'

const tick_ms = 10
const look_ms = 50
const processors = cpus().length

interface ProcessorTime {
  /** Of all processors together. */
  used_ms: number
  stolen_ms: number
}

function processorTime(): ProcessorTime {
  const [all = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = all.split(/\s+/).map(Number)
  return { used_ms: (user + nice + system + irq + softirq) * tick_ms, stolen_ms: steal * tick_ms }
}

/** Begins to measure; the function that comes back says what share of the wanted processor time the host took. */
export function hostShare(): () => Measurement {
  const before = processorTime()
  return () => {
    const now = processorTime()
    const stolen_ms = now.stolen_ms - before.stolen_ms
    const wanted_ms = now.used_ms - before.used_ms + stolen_ms
    return {
      name: 'processor time that the host of this machine took',
      value: (100 * stolen_ms) / wanted_ms,
      unit: '%',
    }
  }
}

/**
 * Keeps the processors from being halted, by PM QoS: no idle state that takes more than 0 us to leave is entered while the file is
 * open (Documentation/power/pm_qos_interface.rst; cyclictest(8) does so too). A halted processor of a virtual machine has to be woken
 * by the host, at every hop of a byte. Returns its end; undefined where it is not allowed.
 */
export function keepAwake(): (() => void) | undefined {
  try {
    const file = openSync('/dev/cpu_dma_latency', 'w')
    writeSync(file, Buffer.alloc(4))
    return () => closeSync(file)
  } catch {
    return undefined
  }
}

/** Follows what the host takes while an event loop runs. */
export class HostWatch {
  readonly #looks: { at_ms: number; stolen_ms: number }[] = []
  readonly #looking = setInterval(() => this.#look(), look_ms)

  #look(): void {
    this.#looks.push({ at_ms: unixNow_ms(), stolen_ms: processorTime().stolen_ms / processors })
  }

  /** What it took of each processor within these moments, ms, on average. */
  taken_ms(from_ms: number, to_ms: number): number {
    const before = this.#looks.findLast(({ at_ms }) => at_ms <= from_ms)
    const after = this.#looks.find(({ at_ms }) => at_ms >= to_ms)
    return before && after ? after.stolen_ms - before.stolen_ms : 0
  }

  stop(): void {
    clearInterval(this.#looking)
  }
}
