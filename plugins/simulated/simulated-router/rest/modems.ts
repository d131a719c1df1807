import type { Device } from '../device/device.js'
import { runAt } from '../mobile/at.js'
import { operatorStates, pinStates } from '../mobile/operators.js'
import { factsOf, hardware, registrationOf, scanOf } from '../mobile/readings.js'
import { type Endpoint, failure, type RestAnswer, success } from './answer.js'

const notAvailable = 'N/A'
const text = (value: number | undefined) => (value === undefined ? notAvailable : String(value))

function statusOf(device: Device) {
  const { modem } = device
  const { model, firmware, usbId } = hardware.current
  const own = { id: usbId, name: 'Internal modem' }
  if (!modem.online) return { ...own, offline: '1', blocked: '0' }
  const { operator, status, status_id, tac } = registrationOf(modem)
  const facts = factsOf(device)
  const { netMode = notAvailable, operator: provider = notAvailable, cell = notAvailable } = facts
  const pin = pinStates[modem.sim.state]
  return {
    ...own,
    imei: facts.imei,
    model,
    version: firmware,
    index: 1,
    sim_count: 2,
    builtin: true,
    primary: true,
    operators_scan: modem.operatorControl,
    service_modes: { '3G': ['WCDMA_900', 'WCDMA_2100'], '4G': ['LTE_B3', 'LTE_B7', 'LTE_B20'] },
    conntype: netMode,
    ntype: netMode,
    simstate: pin.sim,
    simstate_id: modem.sim.state === 'absent' ? 1 : 0,
    pinstate: pin.text,
    pinstate_id: pin.id,
    pinleft: 3,
    state: facts.connection,
    state_id: modem.connected ? 0 : 1,
    data_off: modem.dataOff,
    netstate: status,
    netstate_id: status_id,
    txbytes: facts.sent,
    rxbytes: facts.received,
    active_sim: 1,
    signal: facts.rssi ?? notAvailable,
    // Both names of the field were seen.
    [device.firmware.minor < 10 ? 'oper' : 'operator']: provider,
    provider,
    imsi: facts.imsi ?? notAvailable,
    iccid: facts.iccid ?? notAvailable,
    cellid: cell,
    rscp: text(facts.rscp),
    ecio: text(facts.ecio),
    rsrp: text(facts.rsrp),
    rsrq: text(facts.rsrq),
    sinr: text(facts.sinr),
    volte: false,
    ca_signal: [],
    temperature: facts.temperature ?? notAvailable,
    mobile_stage: modem.connected ? 19 : operator ? 14 : 7,
    is_busy: modem.scanning ? 1 : 0,
    cell_info: operator
      ? [
          {
            mcc: operator.plmn.slice(0, 3),
            mnc: operator.plmn.slice(3),
            cellid: cell,
            ue_state: '3',
            tac,
          },
        ]
      : [],
  }
}

export const modemsStatus: Endpoint = ({ device }) => success([statusOf(device)])

/** An endpoint of one modem. */
const onModem =
  (run: Endpoint): Endpoint =>
  (request) =>
    request.path[0] === hardware.current.usbId ? run(request) : failure('section', 'Modem', request.path[0])

/** Needs the modem's attention. */
const onLiveModem = (run: Endpoint): Endpoint =>
  onModem((request): RestAnswer | Promise<RestAnswer> => {
    const { modem } = request.device
    return modem.online && !modem.scanning ? run(request) : failure('request', 'Modem busy or offline')
  })

export const modemStatus = onModem(({ device }) => success(statusOf(device)))

export const modemReboot = onLiveModem(({ device }) => {
  device.modem.start()
  return success({})
})

export const restartConnection = onLiveModem(({ device }) => {
  device.reloadNetwork()
  return success({})
})

export const execAt = onLiveModem(async ({ device, data }) =>
  typeof data.command === 'string'
    ? success({ response: await runAt(device, data.command) })
    : failure('option', 'command'),
)

export const scanNetwork = onLiveModem(async ({ device }) => {
  const { modem, delays, options } = device
  if (!modem.operatorControl) return failure('notImplemented', 'scan_network')
  const found = scanOf(modem)
  modem.beginScan()
  await delays.wait(options.scan_s * 1000)
  return success(
    found.map(({ generation, state_id, name, short, plmn }) => ({
      net_access_type: generation,
      status_code: state_id,
      status: operatorStates[state_id],
      op_name: name,
      short_name: short,
      num_name: plmn,
    })),
  )
})
