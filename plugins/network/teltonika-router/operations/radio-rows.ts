/** How the modem is served: signal, registration, SIM and traffic. */
import {
  ask,
  asked,
  askWith,
  gsmctl,
  mobile,
  mobileSection,
  modem,
  modemStatus,
  optional,
  printed,
  ubus,
} from './build.js'
import { at, fields, name, network, packetService, plmn, text } from './fields.js'
import { networkOf, packetServiceOf, plmnOf, signalOf, simStateOf, slotOf } from './modem-values.js'
import type { Rows } from './operations.js'
import { fieldOf, firstOf, isObject, isOn, numberOf, textOf } from './parse.js'

/** `network.interface.…` status shows whether data flows. */
const mobileInterface = (slot: string, more = {}) =>
  ubus(`network.interface.${mobileSection(slot)}`, 'status', {}, more)
/** Both slots and the slot in use, in a single request. */
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

/** An inserted SIM of a legacy router may still wait for its PIN. */
function simState(slot: string | undefined, pin: string | undefined) {
  const inserted = simStateOf(undefined, slot)
  return inserted === 'ready' ? (simStateOf(undefined, pin) ?? inserted) : inserted
}

const digitsIn = (text = '') => /\d{6,22}F?/i.exec(text)?.[0] ?? ''

/** Bytes; undefined unless both are known. */
function trafficOf(tx: unknown, rx: unknown) {
  const [sent, recvd] = [numberOf(tx), numberOf(rx)]
  return sent === undefined || recvd === undefined ? undefined : { sent, recvd }
}
const trafficBy = (tx: string, rx: string) => (answer: unknown) => trafficOf(at(answer, tx), at(answer, rx))

/** @param rssi its name; the other values have the same names everywhere */
const signalBy = (rssi: string) => (answer: unknown) =>
  isObject(answer)
    ? signalOf({ rssi: answer[rssi], rsrp: answer.rsrp, rsrq: answer.rsrq, sinr: answer.sinr })
    : undefined

const gsmRegistration = fields({
  network: network('domain.status_id', 'domain.status'),
  operator: text('provider.full_name', 'provider.short_name', 'provider.provider_name'),
  carrier: text('provider.provider_name', 'provider.full_name'),
  plmn: plmn('provider.plmn', 'info.opernum'),
  technology: text('info.net_mode', 'domain.act'),
  cellId: text('domain.ci'),
  packetService: packetService('packets.state_id', 'packets.state'),
})
const vuciRegistration = fields({
  network: network('info.netstate_id', 'info.netstate', 'state.netstate'),
  operator: text('info.operator', 'info.oper', 'state.operator'),
  carrier: text('info.provider', 'info.operator', 'info.oper'),
  plmn: plmn('info.opernum', 'info.plmn'),
  technology: text('info.conntype', 'info.ntype', 'state.conntype'),
  cellId: text('info.cellid', 'info.ci'),
})
const restRegistration = fields({
  network: network('netstate_id', 'netstate'),
  operator: text('operator', 'oper'),
  carrier: text('provider', 'operator', 'oper'),
  plmn: (modem) => plmnOf(at(modem, 'opernum'), cellNetwork(modem)),
  technology: text('ntype', 'conntype'),
  cellId: text('cellid', 'cell_info.0.cellid', 'cell_info.cellid'),
})
const cellNetwork = (modem: unknown) =>
  `${text('cell_info.0.mcc', 'cell_info.mcc')(modem)}${text('cell_info.0.mnc', 'cell_info.mnc')(modem)}`

export const radioRows: Rows<'signal' | 'registration' | 'sim' | 'traffic' | 'mobileDevice'> = {
  signal: {
    'legacy/ubus': asked('qWMZ', ([rssi, rsrp, rsrq, sinr]) => signalOf({ rssi, rsrp, rsrq, sinr })),
    '7/ubus': [
      ask(ubus(modem, 'get_signal_query'), signalBy('rssi')),
      askWith(
        ['modemId'],
        ({ modemId }) => ubus(mobile, 'mobile_info', { modem: modemId }),
        (answer) => signalBy('signal')(fieldOf(answer, 'mobile')),
      ),
    ],
    '7/rest': [modemStatus(signalBy('signal'))],
  },
  registration: {
    'legacy/ubus': asked(
      'goftCjP',
      ([status, operator = '', digits, technology = '', cellId = '', connection = '', packets]) => ({
        network: networkOf(undefined, status),
        operator,
        carrier: operator,
        plmn: plmnOf(digits),
        technology,
        cellId,
        packetService: packetServiceOf(undefined, packets),
        connected: connection === '' ? undefined : /^connected/i.test(connection),
      }),
    ),
    '7/ubus': [
      {
        together: true,
        calls: () => [
          ubus(modem, 'get_net_reg_stat_all'),
          ubus(modem, 'get_service_provider', {}, optional),
          ubus(modem, 'get_ps_att_state', {}, optional),
          ubus(modem, 'get_network_info', {}, optional),
          ...mobileInterfaces,
        ],
        read([status, provider, packets, info, ...links]) {
          const domain = registeredIn(status)
          if (domain === undefined) return undefined
          return {
            ...gsmRegistration({ domain, provider, packets, info }),
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
          const info = fieldOf(details, 'mobile')
          if (!isObject(info)) return undefined
          return {
            ...vuciRegistration({ info, state: firstOf(fieldOf(status, 'mobile')) }),
            packetService: '',
            connected: isUp(links),
          }
        },
      },
    ],
    '7/rest': [
      modemStatus((modem) => ({
        ...restRegistration(modem),
        ...(isOn(modem.offline) && { network: 'unregistered' as const }),
        packetService: '',
        connected: /^(dis)?connected$/i.test(textOf(modem.state))
          ? /^connected$/i.test(textOf(modem.state))
          : undefined,
      })),
    ],
  },
  sim: {
    'legacy/ubus': asked('zxJu', ([state, imsi, iccid, pin]) => ({
      state: simState(state, pin) ?? (digitsIn(imsi) ? 'ready' : 'error'),
      imsi: digitsIn(imsi),
      iccid: digitsIn(iccid),
    })),
    '7/ubus': [
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
    '7/rest': [
      modemStatus((modem) => {
        const iccid = textOf(modem.iccid)
        const byText = simStateOf(undefined, modem.simstate)
        const byPin = simStateOf(modem.pinstate_id, modem.pinstate)
        // An inserted SIM may still wait for its PIN.
        const state = byText === 'absent' ? byText : (byPin ?? byText)
        return { state: state ?? (iccid === '' ? 'error' : 'ready'), imsi: textOf(modem.imsi), iccid }
      }),
    ],
  },
  traffic: {
    'legacy/ubus': [
      {
        together: true,
        calls: () => [gsmctl(['-e', 'wwan0']), gsmctl(['-r', 'wwan0'])],
        read: ([sent, recvd]) => trafficOf(printed(sent), printed(recvd)),
      },
    ],
    '7/ubus': [
      askWith(
        ['modemId'],
        ({ modemId }) => ubus('mdcollect', 'get_raw_total', { modem: modemId }),
        trafficBy('tx', 'rx'),
      ),
      askWith(
        ['mobileDevice'],
        (facts) => ubus('network.device', 'status', { name: facts.mobileDevice }),
        trafficBy('statistics.tx_bytes', 'statistics.rx_bytes'),
      ),
    ],
    '7/rest': [modemStatus(trafficBy('txbytes', 'rxbytes'))],
  },
  mobileDevice: {
    '7/ubus': [askWith(['simSlot'], ({ simSlot }) => mobileInterface(simSlot), name('l3_device', 'device'))],
  },
}
