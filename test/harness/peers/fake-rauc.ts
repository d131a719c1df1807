import type { EventEmitter } from 'node:events'
import { Message, type MessageBus, MessageType, sessionBus, Variant } from '@jellybrick/dbus-next'
import type { Test } from 'tap'

const name = 'de.pengutronix.rauc'
const own = `${name}.Installer`

/** RAUC's object on a bus, as a test scripts it. */
export class FakeRauc {
  booted: 'A' | 'B' = 'A'
  operation = 'idle'
  lastError = ''
  /** What `InstallBundle` and `Mark` answer instead of a result: name and text of an error. */
  refuses: Partial<Record<'InstallBundle' | 'Mark', readonly [kind: string, text: string]>> = {}
  /** While set, the answers to `Info` wait here. */
  held: (() => void)[] | undefined
  /** What was called, with its arguments. */
  readonly calls: string[] = []
  #bus: MessageBus | undefined
  readonly #address: string

  constructor(t: Test, address: string) {
    this.#address = address
    t.teardown(() => this.stop())
  }

  async start(): Promise<void> {
    const bus = sessionBus({ busAddress: this.#address })
    this.#bus = bus
    ;(bus as EventEmitter).on('error', () => {})
    bus.addMethodHandler((call: Message) => this.#answer(bus, call))
    await bus.requestName(name, 0)
  }

  stop(): void {
    this.#bus?.disconnect()
    this.#bus = undefined
  }

  progress(percent: number, text: string): void {
    const values = { Progress: new Variant('(isi)', [percent, text, 1]) }
    this.#signal('org.freedesktop.DBus.Properties', 'PropertiesChanged', 'sa{sv}as', [own, values, []])
  }

  completed(result: number): void {
    this.operation = 'idle'
    this.#signal(own, 'Completed', 'i', [result])
  }

  #signal(interfaceName: string, member: string, signature: string, body: unknown[]): void {
    this.#bus?.send(
      new Message({ type: MessageType.SIGNAL, path: '/', interface: interfaceName, member, signature, body }),
    )
  }

  #answer(bus: MessageBus, call: Message): boolean {
    const { member, body } = call
    const reply = (signature: string, values: unknown[]) => bus.send(Message.newMethodReturn(call, signature, values))
    const refusal = this.refuses[member as 'Mark']
    if (member !== 'Get') this.calls.push([member, ...body.filter((one) => typeof one === 'string')].join(' '))
    if (refusal) bus.send(Message.newError(call, ...(refusal as [string, string])))
    else if (member === 'GetSlotStatus') reply('a(sa{sv})', [['A', 'B'].map((slot, i) => this.#slot(slot, i))])
    else if (member === 'Get') {
      const value = body[1] === 'Operation' ? this.operation : this.lastError
      reply('v', [new Variant('s', value)])
    } else if (member === 'Info' && this.held) this.held.push(() => reply('ss', ['test', '2.0.0']))
    else if (member === 'Info') reply('ss', ['test', '2.0.0'])
    else if (member === 'Mark') reply('ss', [String(body[1]), `marked ${body[1]} as ${body[0]}`])
    else if (member === 'InstallBundle') {
      this.operation = 'installing'
      reply('', [])
    } else return false
    return true
  }

  #slot(slot: string, index: number) {
    const text = (value: string) => new Variant('s', value)
    const state = slot === this.booted ? 'booted' : 'inactive'
    return [`rootfs.${index}`, { class: text('rootfs'), bootname: text(slot), state: text(state) }]
  }
}
