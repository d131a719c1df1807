/** How the modem is served: signal, registration, SIM and traffic. */
import { asked, gsmctl, mobile, mobileSection, modem, modemStatus, optional, said, ubus } from './build.js'
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

export const radioRows: Rows<'signal' | 'registration' | 'sim' | 'traffic' | 'mobileDevice'> = {
  signal: {
    'legacy/ubus': asked('qWMZ', ([rssi, rsrp, rsrq, sinr]) => signalOf({ rssi, rsrp, rsrq, sinr })),
    '7/ubus': [
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
    '7/rest': [modemStatus(({ signal, rsrp, rsrq, sinr }) => signalOf({ rssi: signal, rsrp, rsrq, sinr }))],
  },
  registration: {
    'legacy/ubus': asked(
      'goftCjP',
      ([network, operator = '', plmn, technology = '', cellId = '', connection = '', packets]) => ({
        network: networkOf(undefined, network),
        operator,
        carrier: operator,
        plmn: plmnOf(plmn),
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
    '7/rest': [
      modemStatus((found) => {
        const cell = firstOf(found.cell_info)
        const home = `${textOf(fieldOf(cell, 'mcc'))}${textOf(fieldOf(cell, 'mnc'))}`
        const state = textOf(found.state)
        return {
          network: isOn(found.offline) ? 'unregistered' : networkOf(found.netstate_id, found.netstate),
          operator: textOf(found.operator, found.oper),
          carrier: textOf(found.provider, found.operator, found.oper),
          plmn: plmnOf(found.opernum, home),
          technology: textOf(found.ntype, found.conntype),
          cellId: textOf(found.cellid, fieldOf(cell, 'cellid')),
          packetService: '',
          connected: /^(dis)?connected$/i.test(state) ? /^connected$/i.test(state) : undefined,
        }
      }),
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
      modemStatus((found) => {
        const iccid = textOf(found.iccid)
        const byText = simStateOf(undefined, found.simstate)
        const byPin = simStateOf(found.pinstate_id, found.pinstate)
        // An inserted SIM may still wait for its PIN.
        const state = byText === 'absent' ? byText : (byPin ?? byText)
        return { state: state ?? (iccid === '' ? 'error' : 'ready'), imsi: textOf(found.imsi), iccid }
      }),
    ],
  },
  traffic: {
    'legacy/ubus': [
      {
        together: true,
        calls: () => [gsmctl(['-e', 'wwan0']), gsmctl(['-r', 'wwan0'])],
        read: ([sent, recvd]) => trafficOf(said(sent), said(recvd)),
      },
    ],
    '7/ubus': [
      {
        needs: ['modemId'],
        calls: (_input, { modemId }) => [ubus('mdcollect', 'get_raw_total', { modem: modemId })],
        read: ([answer]) => trafficOf(fieldOf(answer, 'tx'), fieldOf(answer, 'rx')),
      },
      {
        needs: ['mobileDevice'],
        calls: (_input, { mobileDevice }) => [ubus('network.device', 'status', { name: mobileDevice })],
        read: ([answer]) =>
          trafficOf(fieldOf(answer, 'statistics', 'tx_bytes'), fieldOf(answer, 'statistics', 'rx_bytes')),
      },
    ],
    '7/rest': [modemStatus((found) => trafficOf(found.txbytes, found.rxbytes))],
  },
  mobileDevice: {
    '7/ubus': [
      {
        needs: ['simSlot'],
        calls: (_input, { simSlot }) => [mobileInterface(simSlot)],
        read: ([answer]) => textOf(fieldOf(answer, 'l3_device'), fieldOf(answer, 'device')) || undefined,
      },
    ],
  },
}
