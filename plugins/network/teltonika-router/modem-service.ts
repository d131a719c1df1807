import type { CellularModem } from 'rtk-base/services'
import type { RouterFacts } from './state/facts.js'
import type { PolledRouter, RouterPoll } from './state/poll.js'

/** Where the plugin of a router has its modem. */
export interface ModemSource extends PolledRouter {
  readonly facts: RouterFacts
  readonly poll: RouterPoll
}

/** The modem behind the router, for the plugin `modem`: the facts of the router's poll, and what changes something. */
export function modemService(router: ModemSource): CellularModem {
  const { facts, poll } = router
  const options = (signal: AbortSignal | undefined) => (signal ? { signal } : {})
  return {
    fact: (name) => facts.get(name) as never,
    age_ms: (name) => facts.age_ms(name),
    onFact: facts.onModemFact.on,
    follow: (every_ms) => poll.follow(every_ms),
    refresh: (...names) => poll.soon(names),
    read: (name, signal) => poll.read(name, options(signal)) as Promise<never>,
    scanOperators: (signal) => router.link.perform('scanOperators', undefined, options(signal)),
    async selectOperator(plmn, signal) {
      await router.link.perform('selectOperator', { plmn }, options(signal))
      facts.set('operatorSelection', { plmn })
    },
    async setApn(settings, signal) {
      await router.link.perform('setApn', settings, options(signal))
    },
    async reboot(signal) {
      await router.link.perform('rebootModem', undefined, options(signal))
      poll.modemRestarts()
    },
  }
}
