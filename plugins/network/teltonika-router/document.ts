import type { PluginContext } from 'rtk-base/plugin'
import type { RouterInfo } from 'rtk-base/schemas'
import type { Router } from './router.js'

/** The `router` block: both shapes of the specification, merged. While the router is away its last facts stay, its live values do not. */
export function routerBlock(ctx: Pick<PluginContext, 'info'>, router: Router): { changed(): void } {
  const { facts } = router
  const isOnline = () => router.state === 'online'
  const runtime = () => {
    const registration = isOnline() ? facts.get('registration') : undefined
    const sim = facts.get('sim')
    return {
      state: stateOf(router),
      'sim-iccid': sim?.iccid ?? '',
      'sim-imsi': sim?.imsi ?? '',
      operator: registration?.operator ?? '',
      'network-type': registration?.technology ?? '',
      'cell-id': registration?.cellId ?? '',
      plmn: registration?.plmn ?? 0,
      signal: Math.round((isOnline() ? facts.get('signal')?.rssi_dbm : undefined) ?? 0),
      connected: registration?.connected ?? false,
    } satisfies Partial<RouterInfo>
  }
  const identity = () => {
    const board = facts.get('board')
    const modem = facts.get('modemIdentity')
    return {
      serial: board?.serial ?? '',
      macaddr: router.macaddr,
      hw: board?.hw ?? '',
      hwver: board?.hwver ?? '',
      hwbatch: board?.hwbatch ?? '',
      swver: facts.get('version') ?? '',
      certificate: router.pin.pinned?.fingerprint ?? '',
      model: modem?.model ?? '',
      imei: modem?.imei ?? '',
    } satisfies Partial<RouterInfo>
  }
  const config = () => {
    const wap = facts.get('accessPoint') ?? { bssid: '', ssid: '', pswd: '' }
    const { user, pswd } = router.logins.default
    return { wap, default: { user, pswd }, 'wap-ssid': wap.ssid } satisfies Partial<RouterInfo>
  }
  return ctx.info.block('router', { static: identity, runtime, config })
}

/** The age of the oldest live value that is shown. */
function age_s({ facts }: Router): number {
  const shown = (['system', 'registration', 'signal', 'sim'] as const).filter((name) => facts.get(name))
  return Math.floor(Math.max(0, ...shown.map((name) => facts.age_ms(name))) / 1000)
}

function stateOf(router: Router): RouterInfo['state'] {
  const { facts, state } = router
  const system = state === 'online' ? facts.get('system') : undefined
  const since_s = Math.floor(facts.age_ms('system') / 1000)
  const { transport, generation } = router.connected ?? {}
  return {
    uptime: system ? Math.floor(system.uptime_s) + since_s : 0,
    time: system && system.time_s > 0 ? Math.floor(system.time_s) + since_s : 0,
    link: state,
    age: state === 'online' ? age_s(router) : 0,
    error: router.error,
    transport: transport?.kind ?? '',
    generation: generation ?? '',
  }
}
