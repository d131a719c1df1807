import { isReferencePoint } from 'rtk-base/gnss'
import { isIP, pause } from 'rtk-base/link'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import { device, mqttLink, procedureStatus, receiver, reception, rtcmStream, station } from 'rtk-base/services'
import { diskOf, type MachineFiles, temperature, throttled } from '../machine.js'
import { machineMemory } from '../memory.js'
import { type Evidence, report, runChecks } from './checks.js'

const between_ms = 3_000
const dnsLimit_ms = 5_000

/**
 * `start-hardware-test`, `start-production-test`: looks at everything that the device has, and keeps the report in the store
 * (`GET /nvs?namespace=system`, `hardwareTest`, `productionTest`). At the end of a production line nothing may be missing that the
 * variant has plugins for, so there a skipped check of the receiver, the reference, the clock or the broker fails.
 */
export class SelfTest {
  readonly #ctx: PluginContext
  readonly #files: MachineFiles
  #running = false

  constructor(ctx: PluginContext, files: MachineFiles = { root: '/' }) {
    this.#ctx = ctx
    this.#files = files
  }

  async run(kind: 'hardware' | 'production'): Promise<string> {
    if (this.#running) throw unavailable('a test runs already')
    this.#running = true
    try {
      const lines = runChecks(await this.#evidence())
      const mustBe = new Set(['receiver', 'receiver-data', 'reference', 'clock', 'broker'])
      if (kind === 'production')
        for (const line of lines) if (line.verdict === 'SKIP' && mustBe.has(line.name)) line.verdict = 'FAIL'
      const utc_ms = this.#ctx.services.use(device).utc_ms()
      const text = report(kind, lines, utc_ms ? new Date(utc_ms).toISOString() : '')
      // The store may be what is broken: the report is given all the same.
      await this.#ctx.store.batch({ [`${kind}Test`]: text }).catch(() => {})
      this.#ctx.log.info({ test: kind }, text.slice(text.lastIndexOf('\n') + 1))
      return text
    } finally {
      this.#running = false
    }
  }

  async #evidence(): Promise<Evidence> {
    const { services, clock } = this.#ctx
    const document = services.use(station).document()
    const facts = services.use(device)
    const source = services.find(receiver)
    let frames = 0
    const stopCounting = source && this.#ctx.on(source.onRtcm, () => void frames++)
    const [store, disk, temperature_celsius, bits, dns] = await Promise.all([
      this.#storeFault(),
      diskOf(() => this.#ctx.dataDir('test').path),
      temperature(this.#files),
      throttled(this.#files),
      this.#dns(document),
      pause(this.#ctx.timers, between_ms),
    ])
    void stopCounting?.()
    const utc_ms = facts.utc_ms()
    return {
      document,
      identity: services.find(receiver)?.identity,
      frames: source && frames,
      reception: services.find(reception),
      reference: this.#reference(),
      link: services.find(mqttLink),
      errors: facts.errors(),
      memoryFree_bytes: machineMemory().free,
      seconds: between_ms / 1000,
      store,
      free_bytes: disk?.free,
      temperature_celsius,
      throttled: bits,
      clockOff_s: facts.knowsUtc ? (clock.now() - utc_ms) / 1000 : undefined,
      dns,
      now_s: (utc_ms || clock.now()) / 1000,
    }
  }

  /** Without a procedure the word of the gate counts. */
  #reference(): Evidence['reference'] {
    const { services, clock } = this.#ctx
    const stream = services.find(rtcmStream)
    if (!stream) return undefined
    const status = services.find(procedureStatus)?.status ?? stream.reason?.text ?? 'fixed'
    const sent_ms = stream.reference().flatMap(({ type, arrival_ms }) => (isReferencePoint(type) ? [arrival_ms] : []))
    return { status, age_s: (clock.monotonic() - Math.max(...sent_ms)) / 1000 }
  }

  async #storeFault(): Promise<string> {
    const { store, clock } = this.#ctx
    const value = clock.monotonic()
    try {
      await store.batch({ testValue: value })
      const back = await store.get('testValue')
      await store.batch({ testValue: undefined })
      return back === value ? '' : 'it gave another value back'
    } catch (error) {
      return (error as Error).message
    }
  }

  async #dns(document: Record<string, unknown>): Promise<string | undefined> {
    const { host = '' } = (document.mqtt ?? {}) as { host?: string }
    if (host === '' || isIP(host) !== 0) return undefined
    const late = new Promise<string>(
      (resolve) => void this.#ctx.timers.after(dnsLimit_ms, () => resolve(`${host}: no answer in 5 s`)),
    )
    const found = this.#ctx.net.resolve(host).then(
      () => '',
      (error: Error) => error.message,
    )
    return Promise.race([found, late])
  }
}
