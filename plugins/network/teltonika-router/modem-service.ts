import type { CellularModem } from 'rtk-base/services'
import type { Router } from './router.js'

/** The modem behind the router, for the plugin `modem`. Its readings are also used for the `router` block. */
export function modemService(router: Router): CellularModem {
  const { facts } = router
  const options = (signal: AbortSignal | undefined) => (signal ? { signal } : {})
  const link = () => router.link
  return {
    async identity(signal) {
      const identity = await link().perform('modemIdentity', undefined, options(signal))
      facts.set('modem', identity)
      return identity
    },
    async signal(signal) {
      const values = await link().perform('signal', undefined, options(signal))
      facts.set('signal', values)
      return values
    },
    async registration(signal) {
      const registration = await link().perform('registration', undefined, options(signal))
      facts.set('registration', registration)
      return registration
    },
    async sim(signal) {
      const sim = await link().perform('sim', undefined, options(signal))
      facts.set('sim', sim)
      return sim
    },
    traffic: (signal) => link().perform('traffic', undefined, options(signal)),
    temperature: async (signal) => (await link().perform('temperature', undefined, options(signal))).celsius,
    scanOperators: (signal) => link().perform('scanOperators', undefined, options(signal)),
    operatorSelection: async (signal) => (await link().perform('operatorSelection', undefined, options(signal))).plmn,
    async selectOperator(plmn, signal) {
      await link().perform('selectOperator', { plmn }, options(signal))
    },
    apn: (signal) => link().perform('apn', undefined, options(signal)),
    async setApn(settings, signal) {
      await link().perform('setApn', settings, options(signal))
    },
    async pingHost(signal) {
      const ping = await link().perform('pingReboot', undefined, options(signal))
      facts.set('pingReboot', ping)
      return ping.enabled ? ping.host : ''
    },
    onPingHost: router.onPingHost.on,
    async reboot(signal) {
      await link().perform('rebootModem', undefined, options(signal))
    },
  }
}
