/** RUTOS 7.x over ubus: modem objects `gsm.modem0`, and `vuci.*` of the first releases. */
import { limits_ms } from '../transport/index.js'
import { gsmctl, mustSucceed, run, ubus, uciCommit, uciGet, uciSet, write } from './build.js'
import { versionIn } from './generation.js'
import {
  networkOf,
  packetServiceOf,
  plmnOf,
  scannedOf,
  signalOf,
  simStateOf,
  slotOf,
  tenthsOf,
} from './modem-values.js'
import type { Column } from './operations.js'
import { fieldOf, firstOf, isObject, isOn, listOf, macOf, numberOf, outputOf, sectionsOf, textOf } from './parse.js'
import { sharedUbus, versionFile } from './shared-ubus.js'

const modem = 'gsm.modem0'
const mobile = 'vuci.network.mobile'
/** Of the first modem, by the slot of the SIM in use. */
const apnSection = (slot: string) => `mob1s${slot}a1`
const simSection = (slot: string) => `@sim[${Number(slot) - 1}]`

const info = { limit_ms: limits_ms.info }
const optional = { optional: true }

/** `network.interface.…` status says whether data flows. */
const mobileInterface = (slot: string, more = {}) => ubus(`network.interface.${apnSection(slot)}`, 'status', {}, more)
/** Of both slots and which one is in use, so that one request is enough. */
const mobileInterfaces = [
  ubus(modem, 'get_sim_slot', {}, optional),
  mobileInterface('1', optional),
  mobileInterface('2', optional),
]

function isUp([slot, ...links]: readonly unknown[]): boolean | undefined {
  const inUse = slotOf(fieldOf(slot, 'index'))
  const states = links.map((link) => fieldOf(link, 'up')).filter((up) => typeof up === 'boolean')
  if (inUse === undefined) return states.length === 0 ? undefined : states.includes(true)
  const up = fieldOf(links[Number(inUse) - 1], 'up')
  return typeof up === 'boolean' ? up : undefined
}

/** The domain that is registered, of one or several. */
function registeredIn(answer: unknown): unknown {
  const candidates = Array.isArray(answer) ? answer : [answer, ...Object.values(isObject(answer) ? answer : {}).flat()]
  const domains = candidates.filter((one) => isObject(one) && ('status_id' in one || 'status' in one))
  const isRegistered = (one: unknown) =>
    ['home', 'roaming'].includes(networkOf(fieldOf(one, 'status_id'), fieldOf(one, 'status')))
  return domains.find(isRegistered) ?? domains[0]
}

export const currentUbus: Column = {
  ...sharedUbus,
  version: [
    { calls: () => [ubus('vuci.system', 'version')], read: ([answer]) => versionIn(answer) || undefined },
    ...versionFile,
  ],
  board: [
    {
      calls: () => [ubus('mnfinfo', 'get')],
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
    {
      together: true,
      calls: () => ['--sn', '--mac', '--name', '--hwver', '--batch'].map((what) => run('mnf_info', [what], optional)),
      read(answers) {
        const [serial = '', mac, hw = '', hwver = '', hwbatch = ''] = answers.map((answer) => textOf(outputOf(answer)))
        const macaddr = macOf(mac)
        return serial === '' && macaddr === '' ? undefined : { serial, macaddr, hw, hwver, hwbatch }
      },
    },
  ],
  modemIdentity: [
    {
      calls: () => [ubus(modem, 'info', {}, info)],
      read([answer]) {
        if (!isObject(answer)) return undefined
        const cache = answer.cache
        return {
          imei: textOf(fieldOf(cache, 'imei'), answer.imei),
          model: textOf(answer.model, fieldOf(cache, 'model')),
          manuf: textOf(answer.manuf, fieldOf(cache, 'manuf')),
          rev: textOf(fieldOf(cache, 'firmware'), answer.firmware),
          operatorControl: isOn(answer.operator_scan),
        }
      },
    },
    {
      calls: () => [ubus(mobile, 'modems_info', {}, info)],
      read([answer]) {
        const found = firstOf(fieldOf(answer, 'modems') ?? answer)
        if (!isObject(found)) return undefined
        return {
          imei: textOf(found.imei),
          model: textOf(found.modem, found.model, found.name),
          manuf: textOf(found.manuf, found.manufacturer),
          rev: textOf(found.fw_version, found.version),
          operatorControl: isOn(found.operator_scan ?? found.operators_scan),
        }
      },
    },
  ],
  signal: [
    {
      calls: () => [ubus(modem, 'get_signal_query')],
      read: ([answer]) =>
        isObject(answer)
          ? signalOf({ rssi: answer.rssi, rsrp: answer.rsrp, rsrq: answer.rsrq, sinr: answer.sinr })
          : undefined,
    },
    {
      needs: ['modemId'],
      calls: (_input, { modemId }) => [ubus(mobile, 'mobile_info', { modem: modemId })],
      read([answer]) {
        const found = fieldOf(answer, 'mobile')
        if (!isObject(found)) return undefined
        return signalOf({ rssi: found.signal, rsrp: found.rsrp, rsrq: found.rsrq, sinr: found.sinr })
      },
    },
  ],
  registration: [
    {
      together: true,
      calls: () => [
        ubus(modem, 'get_net_reg_stat_all'),
        ubus(modem, 'get_service_provider', {}, optional),
        ubus(modem, 'get_ps_att_state', {}, optional),
        ubus(modem, 'get_network_info', {}, optional),
        ...mobileInterfaces,
      ],
      read([status, provider, packets, network, ...links]) {
        const domain = registeredIn(status)
        if (domain === undefined) return undefined
        return {
          network: networkOf(fieldOf(domain, 'status_id'), fieldOf(domain, 'status')),
          operator: textOf(
            fieldOf(provider, 'full_name'),
            fieldOf(provider, 'short_name'),
            fieldOf(provider, 'provider_name'),
          ),
          carrier: textOf(fieldOf(provider, 'provider_name'), fieldOf(provider, 'full_name')),
          plmn: plmnOf(fieldOf(provider, 'plmn'), fieldOf(network, 'opernum')),
          technology: textOf(fieldOf(network, 'net_mode'), fieldOf(domain, 'act')),
          cellId: textOf(fieldOf(domain, 'ci')),
          packetService: packetServiceOf(fieldOf(packets, 'state_id'), fieldOf(packets, 'state')),
          connected: isUp(links),
        }
      },
    },
    {
      needs: ['modemId'],
      together: true,
      calls: (_input, { modemId }) => [
        ubus(mobile, 'mobile_info', { modem: modemId }),
        ubus(mobile, 'mobile_status', {}, optional),
        ...mobileInterfaces,
      ],
      read([details, status, ...links]) {
        const found = fieldOf(details, 'mobile')
        if (!isObject(found)) return undefined
        const state = firstOf(fieldOf(status, 'mobile'))
        return {
          network: networkOf(found.netstate_id, textOf(found.netstate, fieldOf(state, 'netstate'))),
          operator: textOf(found.operator, found.oper, fieldOf(state, 'operator')),
          carrier: textOf(found.provider, found.operator, found.oper),
          plmn: plmnOf(found.opernum, found.plmn),
          technology: textOf(found.conntype, found.ntype, fieldOf(state, 'conntype')),
          cellId: textOf(found.cellid, found.ci),
          packetService: '',
          connected: isUp(links),
        }
      },
    },
  ],
  sim: [
    {
      together: true,
      calls: () => [
        ubus(modem, 'get_pin_state'),
        ubus(modem, 'get_iccid', {}, optional),
        ubus(modem, 'get_imsi', {}, optional),
      ],
      read([pin, iccid, imsi]) {
        if (!isObject(pin)) return undefined
        const id = textOf(fieldOf(iccid, 'iccid'))
        return {
          state: simStateOf(pin.state_id, pin.state) ?? (id === '' ? 'error' : 'ready'),
          imsi: textOf(fieldOf(imsi, 'imsi')),
          iccid: id,
        }
      },
    },
    {
      needs: ['modemId'],
      together: true,
      calls: (_input, { modemId }) => [
        ubus(mobile, 'mobile_status'),
        ubus(mobile, 'mobile_info', { modem: modemId }, optional),
      ],
      read([status, details]) {
        const state = firstOf(fieldOf(status, 'mobile'))
        if (!isObject(state)) return undefined
        const imsi = textOf(fieldOf(details, 'mobile', 'imsi'))
        return {
          state: simStateOf(state.simstate_id, state.simstate) ?? (imsi === '' ? 'error' : 'ready'),
          imsi,
          iccid: textOf(fieldOf(details, 'mobile', 'iccid')),
        }
      },
    },
  ],
  traffic: [
    {
      needs: ['modemId'],
      calls: (_input, { modemId }) => [ubus('mdcollect', 'get_raw_total', { modem: modemId })],
      read([answer]) {
        const [sent, recvd] = [numberOf(fieldOf(answer, 'tx')), numberOf(fieldOf(answer, 'rx'))]
        return sent === undefined || recvd === undefined ? undefined : { sent, recvd }
      },
    },
    {
      needs: ['mobileDevice'],
      calls: (_input, { mobileDevice }) => [ubus('network.device', 'status', { name: mobileDevice })],
      read([answer]) {
        const count = (name: string) => numberOf(fieldOf(answer, 'statistics', name))
        const [sent, recvd] = [count('tx_bytes'), count('rx_bytes')]
        return sent === undefined || recvd === undefined ? undefined : { sent, recvd }
      },
    },
  ],
  temperature: [
    {
      calls: () => [ubus(modem, 'get_temperature')],
      read: ([answer]) => ({ celsius: tenthsOf(fieldOf(answer, 'temperature_value')) }),
    },
  ],
  scanOperators: [
    {
      writes: true,
      calls: () => [ubus(modem, 'scan_operators', {}, { limit_ms: limits_ms.scan })],
      read([answer]) {
        const list = fieldOf(answer, 'operators')
        if (!Array.isArray(list)) return undefined
        return list.flatMap(
          (one) =>
            scannedOf({
              plmn: fieldOf(one, 'oper_num'),
              names: [fieldOf(one, 'oper_name'), fieldOf(one, 'short_name')],
              technology: fieldOf(one, 'act'),
              state: fieldOf(one, 'state_id'),
              stateText: fieldOf(one, 'state'),
            }) ?? [],
        )
      },
    },
  ],
  operatorSelection: [
    {
      calls: () => [ubus(modem, 'get_operator_selection')],
      read([answer]) {
        if (!isObject(answer)) return undefined
        const isManual = [2, 5].includes(numberOf(answer.mode_id) ?? 0) || /manual/i.test(textOf(answer.mode))
        const plmn = /^\d{5,6}$/.exec(textOf(answer.operator))?.[0]
        // A manual selection that is written as a name says nothing here: the next way has the digits.
        return isManual && plmn === undefined ? undefined : { plmn: isManual ? plmn : undefined }
      },
    },
    {
      needs: ['simSlot'],
      calls: (_input, { simSlot }) => [uciGet('simcard', simSection(simSlot))],
      read([answer]) {
        const values = fieldOf(answer, 'values')
        const isManual = textOf(fieldOf(values, 'operator')).startsWith('manual')
        return { plmn: isManual ? textOf(fieldOf(values, 'opernum')) || undefined : undefined }
      },
    },
  ],
  selectOperator: [
    write({
      needs: ['simSlot'],
      calls({ plmn }, { simSlot }) {
        const selection = plmn === undefined ? { mode: 'auto' } : { mode: 'manual', format: 'numeric', operator: plmn }
        const values: Record<string, string> =
          plmn === undefined ? { operator: 'auto', opernum: '' } : { operator: 'manual', opernum: plmn }
        return [
          ubus(modem, 'set_operator_selection', selection, { limit_ms: limits_ms.scan }),
          // What is only in the modem is lost when the mobile service is reloaded.
          uciSet('simcard', simSection(simSlot), values),
          uciCommit('simcard', info),
        ]
      },
    }),
  ],
  apn: [
    {
      needs: ['simSlot'],
      calls: (_input, { simSlot }) => [uciGet('network', apnSection(simSlot))],
      read([answer]) {
        const values = fieldOf(answer, 'values')
        if (!isObject(values)) return undefined
        const auth = textOf(values.auth)
        return {
          apn: isOn(values.auto_apn) ? '' : textOf(values.apn),
          user: textOf(values.username),
          pswd: textOf(values.password, values.passw),
          auth: auth === 'pap' || auth === 'chap' ? auth : 'none',
        }
      },
    },
  ],
  setApn: [
    write({
      needs: ['simSlot'],
      calls: ({ apn, user, pswd, auth }, { simSlot }) => [
        // `password` is what takes effect; spec.md writes `passw`.
        uciSet('network', apnSection(simSlot), {
          apn,
          username: user,
          password: pswd,
          passw: pswd,
          auth,
          auto_apn: apn === '' ? '1' : '0',
        }),
        uciCommit('network', info),
      ],
    }),
  ],
  rebootModem: [
    write({
      needs: ['modemId'],
      calls: (_input, { modemId }) => [ubus(mobile, 'reboot_modem', { modem: modemId }, info)],
    }),
    write({ needs: ['modemId'], calls: (_input, { modemId }) => [ubus('mctl', 'reboot', { id: modemId }, info)] }),
    write({ calls: () => [gsmctl(['-Q'], { ...info, ...mustSucceed })] }),
  ],
  ipBlock: [
    {
      calls: () => [ubus('uci', 'get', { config: 'ip_blockd' })],
      read([answer]) {
        const values = sectionsOf(answer).find((section) => 'max_attempt_count' in section.values)?.values
        const attempts = numberOf(values?.max_attempt_count)
        if (attempts === undefined) return undefined
        return { enabled: isOn(values?.enabled), attempts, clearedAtReboot: isOn(values?.reboot_clear) }
      },
    },
  ],
  setIpBlock: [
    write({
      needs: ['ipBlockSection'],
      calls: ({ attempts }, { ipBlockSection }) => [
        uciSet('ip_blockd', ipBlockSection, {
          enabled: '1',
          max_attempt_count: String(attempts),
          reboot_clear: '1',
        }),
        uciCommit('ip_blockd'),
      ],
    }),
  ],
  ipBlockSection: [
    {
      calls: () => [ubus('uci', 'get', { config: 'ip_blockd' })],
      read: ([answer]) => sectionsOf(answer).find((section) => 'max_attempt_count' in section.values)?.name,
    },
  ],
  modems: [
    {
      calls: () => [ubus('gsm', 'info'), ubus(modem, 'info', {}, info)],
      read([answer, used]) {
        const count = numberOf(fieldOf(answer, 'mdm_stats', 'num_modems'))
        return count === undefined ? undefined : { count, used: textOf(fieldOf(used, 'name'), fieldOf(used, 'usb_id')) }
      },
    },
    {
      calls: () => [ubus(mobile, 'get_all_modems')],
      read([answer]) {
        const list = listOf(fieldOf(answer, 'modems'))
        return { count: list.length, used: textOf(fieldOf(list[0], 'name'), fieldOf(list[0], 'id')) }
      },
    },
  ],
  modemId: [
    {
      calls: () => [ubus(modem, 'info', {}, info)],
      read: ([answer]) => textOf(fieldOf(answer, 'usb_id')) || undefined,
    },
    {
      calls: () => [ubus(mobile, 'get_all_modems')],
      read: ([answer]) => textOf(fieldOf(firstOf(fieldOf(answer, 'modems')), 'id')) || undefined,
    },
  ],
  mobileDevice: [
    {
      needs: ['simSlot'],
      calls: (_input, { simSlot }) => [mobileInterface(simSlot)],
      read: ([answer]) => textOf(fieldOf(answer, 'l3_device'), fieldOf(answer, 'device')) || undefined,
    },
  ],
  simId: [],
  simSlot: [{ calls: () => [ubus(modem, 'get_sim_slot')], read: ([answer]) => slotOf(fieldOf(answer, 'index')) }],
}
