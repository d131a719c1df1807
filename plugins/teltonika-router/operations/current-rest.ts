/** RUTOS 7.x over REST, for routers without JSON-RPC (a package of its own from 7.18 on). It writes, commits and reloads by itself. */
import { limits_ms } from '../transport/index.js'
import { get, post, put, write } from './build.js'
import { versionIn } from './generation.js'
import { networkOf, plmnOf, scannedOf, signalOf, simStateOf, slotOf, tenthsOf } from './modem-values.js'
import type { Column, RouterFactIds, Way } from './operations.js'
import { type Fields, fieldOf, firstOf, isObject, isOn, listOf, macOf, numberOf, textOf } from './parse.js'

const device = get('/api/system/device/status')
const apnPath = (slot: string) => `/api/interfaces/config/mob1s${slot}a1`
const pings = '/api/auto_reboot/ping_wget/config'
const blocks = '/api/access_control/security/config'
const info = { limit_ms: limits_ms.info }

/** The primary one, else the first: the one that mob1… belongs to. */
function usedModem(answer: unknown): unknown {
  return listOf(answer).find((one) => isOn(fieldOf(one, 'primary'))) ?? firstOf(answer)
}

/** One modem of `GET /api/modems/status`: an offline one has no values. */
const modemStatus = <O>(read: (modem: Fields) => O | undefined): Way<undefined, O> => ({
  calls: () => [get('/api/modems/status', info)],
  read([answer]) {
    const found = usedModem(answer)
    return isObject(found) ? read(found) : undefined
  },
})

/** Settings of the SIM: below the modem from 7.06 on. */
const simPaths = (modemId: string) => ['/api/sim_cards/config', `/api/modems/${modemId}/sim_cards/config`] as const

/** The SIM in use among those of all modems. */
function simIn(answer: unknown, { modemId, simSlot }: RouterFactIds): unknown {
  const all = Array.isArray(answer) ? answer : [answer]
  const own = all.filter((one) => ['', modemId].includes(textOf(fieldOf(one, 'modem'))))
  return own.find((one) => slotOf(fieldOf(one, 'position')) === simSlot) ?? own[Number(simSlot) - 1] ?? own[0]
}

const selected = (sim: unknown) => {
  const isManual = textOf(fieldOf(sim, 'operator')).startsWith('manual')
  return { plmn: isManual ? textOf(fieldOf(sim, 'opernum')) || undefined : undefined }
}
const selection = ({ plmn }: { plmn: string | undefined }) =>
  plmn === undefined ? { operator: 'auto' } : { operator: 'manual', opernum: plmn }

export const currentRest: Column = {
  system: [
    {
      calls: () => [get('/api/system/device/usage/status')],
      read([answer]) {
        const uptime_s = numberOf(fieldOf(answer, 'uptime_seconds'))
        return uptime_s === undefined ? undefined : { uptime_s, time_s: numberOf(fieldOf(answer, 'localtime')) ?? 0 }
      },
    },
  ],
  version: [
    { calls: () => [device], read: ([answer]) => versionIn(fieldOf(answer, 'static', 'fw_version')) || undefined },
  ],
  board: [
    {
      calls: () => [device],
      read([answer]) {
        const found = fieldOf(answer, 'mnfinfo')
        if (!isObject(found)) return undefined
        return {
          serial: textOf(found.serial),
          macaddr: macOf(found.mac, found.macEth),
          hw: textOf(found.name),
          hwver: textOf(found.hwver),
          hwbatch: textOf(found.batch),
        }
      },
    },
  ],
  deviceName: [
    {
      calls: () => [device],
      read: ([answer]) => textOf(fieldOf(answer, 'static', 'device_name'), fieldOf(answer, 'static', 'hostname')),
    },
  ],
  accessPoint: [
    {
      calls: () => [get('/api/wireless/interfaces/status'), get('/api/wireless/interfaces/config', { optional: true })],
      read([status, config]) {
        const isAp = (one: unknown) => /^(ap|master)$/i.test(textOf(fieldOf(one, 'mode')))
        const shown = listOf(status).find(isAp)
        if (shown === undefined) return undefined
        const id = textOf(fieldOf(shown, 'wifi_id'), fieldOf(shown, 'id'))
        const settings = listOf(config)
        const own = settings.find((one) => id !== '' && [fieldOf(one, 'id'), fieldOf(one, 'wifi_id')].includes(id))
        const found = own ?? settings.find((one) => fieldOf(one, 'ssid') === fieldOf(shown, 'ssid'))
        return {
          bssid: macOf(fieldOf(shown, 'bssid')),
          ssid: textOf(fieldOf(shown, 'ssid')),
          pswd: textOf(fieldOf(found, 'key'), fieldOf(found, 'password')),
        }
      },
    },
  ],
  reboot: [write({ mayBreakOff: true, calls: () => [post('/api/system/actions/reboot')] })],
  factory: [
    write({ mayBreakOff: true, calls: () => [post('/api/firmware/actions/factory_reset', { user_defaults: '0' })] }),
  ],
  exec: [],
  uciGet: [],
  uciState: [],
  uciSet: [],
  uciCommit: [],
  modemIdentity: [
    modemStatus((modem) => ({
      imei: textOf(modem.imei),
      model: textOf(modem.model, modem.name),
      manuf: textOf(modem.manuf, modem.manufacturer),
      rev: textOf(modem.version),
      operatorControl: isOn(modem.operators_scan),
    })),
  ],
  signal: [modemStatus(({ signal, rsrp, rsrq, sinr }) => signalOf({ rssi: signal, rsrp, rsrq, sinr }))],
  registration: [
    modemStatus((modem) => {
      const cell = firstOf(modem.cell_info)
      const home = `${textOf(fieldOf(cell, 'mcc'))}${textOf(fieldOf(cell, 'mnc'))}`
      const state = textOf(modem.state)
      return {
        network: isOn(modem.offline) ? 'unregistered' : networkOf(modem.netstate_id, modem.netstate),
        operator: textOf(modem.operator, modem.oper),
        carrier: textOf(modem.provider, modem.operator, modem.oper),
        plmn: plmnOf(modem.opernum, home),
        technology: textOf(modem.ntype, modem.conntype),
        cellId: textOf(modem.cellid, fieldOf(cell, 'cellid')),
        packetService: '',
        connected: /^(dis)?connected$/i.test(state) ? /^connected$/i.test(state) : undefined,
      }
    }),
  ],
  sim: [
    modemStatus((modem) => {
      const iccid = textOf(modem.iccid)
      const byText = simStateOf(undefined, modem.simstate)
      const byPin = simStateOf(modem.pinstate_id, modem.pinstate)
      // An inserted SIM may still wait for its PIN.
      const state = byText === 'absent' ? byText : (byPin ?? byText)
      return { state: state ?? (iccid === '' ? 'error' : 'ready'), imsi: textOf(modem.imsi), iccid }
    }),
  ],
  traffic: [
    modemStatus((modem) => {
      const [sent, recvd] = [numberOf(modem.txbytes), numberOf(modem.rxbytes)]
      return sent === undefined || recvd === undefined ? undefined : { sent, recvd }
    }),
  ],
  temperature: [modemStatus((modem) => ({ celsius: tenthsOf(modem.temperature) }))],
  scanOperators: [
    {
      writes: true,
      needs: ['modemId'],
      calls: (_input, { modemId }) => [
        post(`/api/modems/${modemId}/actions/scan_network`, undefined, { limit_ms: limits_ms.scan }),
      ],
      read([answer]) {
        if (!Array.isArray(answer)) return undefined
        return answer.flatMap(
          (one) =>
            scannedOf({
              plmn: fieldOf(one, 'num_name'),
              names: [fieldOf(one, 'op_name'), fieldOf(one, 'short_name')],
              technology: fieldOf(one, 'net_access_type'),
              state: fieldOf(one, 'status_code'),
              stateText: fieldOf(one, 'status'),
            }) ?? [],
        )
      },
    },
  ],
  operatorSelection: [0, 1].map((which) => ({
    needs: ['modemId', 'simSlot'],
    calls: (_input: undefined, { modemId }) => [get(simPaths(modemId)[which] ?? '')],
    read: ([answer], _input, facts) => selected(simIn(answer, facts)),
  })),
  selectOperator: [0, 1].map((which) =>
    write({
      needs: ['modemId', 'simId'],
      calls: (input: { plmn: string | undefined }, { modemId, simId }) => [
        put(`${simPaths(modemId)[which]}/${simId}`, selection(input), { limit_ms: limits_ms.scan }),
      ],
    }),
  ),
  apn: [
    {
      needs: ['simSlot'],
      calls: (_input, { simSlot }) => [get(apnPath(simSlot))],
      read([answer]) {
        const values = firstOf(answer)
        if (!isObject(values)) return undefined
        const auth = textOf(values.auth)
        return {
          apn: isOn(values.auto_apn) ? '' : textOf(values.apn),
          user: textOf(values.username),
          pswd: textOf(values.password),
          auth: auth === 'pap' || auth === 'chap' ? auth : 'none',
        }
      },
    },
  ],
  setApn: [
    write({
      needs: ['simSlot'],
      calls: ({ apn: name, user, pswd, auth }, { simSlot }) => [
        put(
          apnPath(simSlot),
          { apn: name, auth, username: user, password: pswd, auto_apn: name === '' ? '1' : '0' },
          info,
        ),
      ],
    }),
  ],
  rebootModem: [
    write({
      needs: ['modemId'],
      calls: (_input, { modemId }) => [post(`/api/modems/${modemId}/actions/reboot`, undefined, info)],
    }),
  ],
  pingReboot: [
    {
      calls: () => [get(pings)],
      read([answer]) {
        const found = firstOf(answer)
        const hosts = fieldOf(found, 'host')
        return {
          enabled: isOn(fieldOf(found, 'enable')),
          host: textOf(firstOf(hosts), fieldOf(found, 'host1')),
          ...(Array.isArray(hosts) && { isList: true }),
        }
      },
    },
  ],
  setPingReboot: [
    write({
      needs: ['pingSection'],
      calls({ enabled, host, isList }, { pingSection }) {
        const values = {
          enable: enabled ? '1' : '0',
          action: '1',
          ...(host !== '' && { host: isList ? [host] : host }),
        }
        return [pingSection === '' ? post(pings, { type: 'ping', ...values }) : put(`${pings}/${pingSection}`, values)]
      },
    }),
  ],
  pingSection: [{ calls: () => [get(pings)], read: ([answer]) => textOf(fieldOf(firstOf(answer), 'id')) }],
  ipBlock: [
    {
      calls: () => [get(blocks)],
      read([answer]) {
        const values = firstOf(answer)
        const attempts = numberOf(fieldOf(values, 'max_attempt_count'))
        if (attempts === undefined) return undefined
        return {
          enabled: isOn(fieldOf(values, 'enabled')),
          attempts,
          clearedAtReboot: isOn(fieldOf(values, 'reboot_clear')),
        }
      },
    },
  ],
  setIpBlock: [
    write({
      calls: ({ attempts }) => [put(blocks, { enabled: '1', max_attempt_count: String(attempts), reboot_clear: '1' })],
    }),
  ],
  ipBlockSection: [],
  // The image is uploaded: firmware.ts.
  installFirmware: [],
  modems: [
    {
      calls: () => [get('/api/modems/status', info)],
      read([answer]) {
        const used = usedModem(answer)
        return { count: listOf(answer).length, used: textOf(fieldOf(used, 'name'), fieldOf(used, 'id')) }
      },
    },
  ],
  modemId: [modemStatus((modem) => textOf(modem.id) || undefined)],
  simId: [0, 1].map((which) => ({
    needs: ['modemId', 'simSlot'],
    calls: (_input: undefined, { modemId }) => [get(simPaths(modemId)[which] ?? '')],
    read: ([answer], _input, facts) => textOf(fieldOf(simIn(answer, facts), 'id')) || undefined,
  })),
  simSlot: [modemStatus((modem) => slotOf(modem.active_sim))],
  mobileDevice: [],
}
