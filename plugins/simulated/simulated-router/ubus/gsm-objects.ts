/** `gsm` and `gsm.modem0` of 7.x (reference §4). A modem that restarts takes its object with it. */
import type { Device } from '../device/device.js'
import { runAt } from '../mobile/at.js'
import { modeIds, operatorStates, pinStates, type SelectionMode } from '../mobile/operators.js'
import { factsOf, hardware, registrationOf, scanOf, signalOf } from '../mobile/readings.js'
import { type Args, type Call, failed, type Method, type Objects, ok, type Reply, text, ubusStatus } from './object.js'

/** The modem daemon reports a failure with status 0. */
const error = (errno: number, message: string): Reply => ok({ errno, error: message })
const busy = error(-16, 'Modem is busy')

/** Needs the modem's attention, which it does not give during a scan. */
const live =
  (method: (device: Device, args: Args) => Reply | Promise<Reply>): Method =>
  (args, { device }: Call) =>
    device.modem.scanning ? busy : method(device, args)

const fromSim = (method: (device: Device) => Reply) =>
  live((device) => (device.modem.sim.state === 'ready' ? method(device) : error(-19, 'SIM not ready')))

function cellInfo({ modem }: Device) {
  const { operator, tac, cellId } = registrationOf(modem)
  if (operator === undefined) return []
  const { rsrp, rsrq, sinr } = signalOf(modem) ?? {}
  return [
    {
      mcc: operator.plmn.slice(0, 3),
      mnc: operator.plmn.slice(3),
      cellid: cellId,
      ue_state: 3,
      tac,
      pcid: 214,
      earfcn: 1300,
      bandwidth: '20',
      ...(rsrp === undefined ? {} : { rsrp, rsrq, sinr }),
    },
  ]
}

function info(device: Device) {
  const { modem } = device
  const { imei, imsi = '', iccid = '', temperature } = factsOf(device)
  const { manuf, model, firmware, usbId } = hardware.current
  return {
    name: 'Internal modem',
    model,
    manuf,
    usb_id: usbId,
    baudrate: 115_200,
    simcount: 2,
    band_list: ['WCDMA_850', 'WCDMA_900', 'WCDMA_2100', 'LTE_B1', 'LTE_B3', 'LTE_B7', 'LTE_B20'],
    service_mode_list: ['3G', 'LTE'],
    modem_func_id: modem.operatorControl ? 0 : 3,
    state_id: modem.online ? 1 : 0,
    operator_scan: modem.operatorControl,
    ipv6: true,
    volte: true,
    multi_apn: true,
    builtin: true,
    primary: true,
    cache: {
      ...{ imei, firmware, imsi, iccid },
      ...(temperature !== undefined && { temperature }),
      cell_info: cellInfo(device),
    },
  }
}

function registration({ modem, firmware }: Device, all: boolean): Reply {
  const { status_id, status, registered, lac, tac, cellId, technology } = registrationOf(modem)
  const facts = {
    mode_id: 2,
    mode: 'Enabled with location',
    max_mode_id: 2,
    max_mode: 'Enabled with location',
    status_id,
    status,
    ...(registered ? { lac, tac, ci: cellId, act_id: technology.act_id, act: technology.act } : {}),
  }
  if (!all) return ok(facts)
  // One entry for each domain: circuit switched, packet switched, EPS. Which of the two forms is real was not seen.
  return firmware.minor < 10 ? ok({ creg: facts, cgreg: facts, cereg: facts }) : ok({ stats: [facts, facts, facts] })
}

const selectionArgument = (args: Args): { mode: SelectionMode; plmn: string } | undefined => {
  const [mode, plmn = ''] = [text(args, 'mode'), text(args, 'operator')]
  if (mode === undefined || !Object.hasOwn(modeIds, mode)) return undefined
  if (mode !== 'manual' && mode !== 'manual-auto') return { mode: mode as SelectionMode, plmn: '' }
  const format = text(args, 'format') ?? 'numeric'
  return format === 'numeric' && /^\d{5,6}$/.test(plmn) ? { mode, plmn } : undefined
}

const modemMethods: Record<string, Method> = {
  info: (_args, { device }) => ok(info(device)),
  get_signal_query: live((device) => {
    const signal = signalOf(device.modem)
    if (signal === undefined) return error(-61, 'No signal')
    return ok({ net_mode: registrationOf(device.modem).technology.netMode, ...signal })
  }),
  get_service_provider: fromSim((device) => {
    const { operator } = registrationOf(device.modem)
    if (operator === undefined) return error(-61, 'No data available')
    return ok({
      plmn: Number(operator.plmn),
      full_name: operator.name,
      short_name: operator.short,
      provider_name: operator.name,
    })
  }),
  get_net_reg_stat: live((device) => registration(device, false)),
  get_net_reg_stat_all: live((device) => registration(device, true)),
  get_network_info: live(({ modem }) => {
    const { operator, technology } = registrationOf(modem)
    if (operator === undefined) return error(-61, 'No data available')
    return ok({
      net_mode: technology.netMode,
      net_mode_id: technology.act_id,
      net_mode_sel: 'auto',
      band: 'LTE_B3',
      band_id: 103,
      opernum: operator.plmn,
    })
  }),
  get_ps_att_state: live(({ modem }) => {
    const attached = registrationOf(modem).registered
    return ok({ state_id: attached ? 2 : 1, state: attached ? 'Attached' : 'Detached' })
  }),
  get_pin_state: live(({ modem }) => {
    const { id, text: state } = pinStates[modem.sim.state]
    return ok({ state_id: id, state })
  }),
  get_iccid: live(({ modem: { sim } }) =>
    // The number is readable before the PIN is entered.
    ['ready', 'pin', 'puk'].includes(sim.state) ? ok({ iccid: sim.iccid }) : error(-19, 'SIM not inserted'),
  ),
  get_imsi: fromSim(({ modem: { sim } }) => ok({ imsi: sim.imsi })),
  get_firmware: live(() => ok({ firmware: hardware.current.firmware })),
  get_temperature: live(({ modem: { temperature_dC } }) =>
    temperature_dC === undefined ? error(-95, 'Operation not supported') : ok({ temperature_value: temperature_dC }),
  ),
  get_sim_slot: live(() => ok({ index: 1 })),
  get_operator_selection: live(({ modem }) => {
    const { mode, plmn } = modem.selection
    const { operator, technology } = registrationOf(modem)
    const name = plmn === '' ? operator?.plmn : plmn
    return ok({
      mode_id: modeIds[mode],
      mode,
      ...(name === undefined
        ? {}
        : { format_id: 3, format: 'numeric', operator: name, act_id: technology.act_id, act: technology.act }),
    })
  }),
  set_operator_selection: live(async ({ modem, delays, options }, args) => {
    const wanted = selectionArgument(args)
    if (!modem.operatorControl) return error(-95, 'Operation not supported')
    if (wanted === undefined) return error(-22, 'Invalid argument')
    await delays.wait(options.select_s * 1000)
    modem.select(wanted.mode, wanted.plmn)
    return ok({ status_id: 0, status: 'OK' })
  }),
  scan_operators: live(async ({ modem, delays, options }) => {
    if (!modem.operatorControl) return error(-95, 'Operation not supported')
    const found = scanOf(modem)
    modem.beginScan()
    await delays.wait(options.scan_s * 1000)
    return ok({
      operators: found.map(({ name, short, plmn, state_id, act_id, act }) => ({
        oper_name: name,
        short_name: short,
        oper_num: plmn,
        state_id,
        state: operatorStates[state_id],
        act_id,
        act,
      })),
    })
  }),
  exec: async (args, { device }) => {
    const command = text(args, 'command')
    return command === undefined ? failed(ubusStatus.invalidArgument) : ok({ response: await runAt(device, command) })
  },
  send_sms: live((_device, args) =>
    text(args, 'number') && text(args, 'text') ? ok({ sms_used: 1 }) : error(-22, 'Invalid argument'),
  ),
}

const isCurrent = ({ firmware }: Device) => !firmware.legacy

export const gsmObjects: Objects = {
  gsm: {
    present: isCurrent,
    methods: { info: (_args, { device }) => ok({ mdm_stats: { num_modems: device.modem.online ? 1 : 0 } }) },
  },
  'gsm.modem0': { present: (device) => isCurrent(device) && device.modem.online, methods: modemMethods },
  mctl: {
    present: isCurrent,
    methods: {
      reboot: (args, { device }) => {
        if (text(args, 'id') === undefined) return failed(ubusStatus.invalidArgument)
        if (args.id !== hardware.current.usbId || !device.modem.online) return failed(ubusStatus.notFound)
        device.modem.start()
        return [ubusStatus.ok]
      },
    },
  },
  mobifd: {
    present: isCurrent,
    methods: {
      reload: (_args, { device }) => {
        device.reloadNetwork()
        return [ubusStatus.ok]
      },
    },
  },
  'mobifd.modem0': {
    present: (device) => isCurrent(device) && device.modem.online,
    methods: {
      reload: (_args, { device }) => {
        device.reloadNetwork()
        return [ubusStatus.ok]
      },
    },
  },
  mdcollect: {
    present: isCurrent,
    methods: {
      get: (_args, { device }) => ok(traffic(device)),
      get_raw_total: (_args, { device }) => ok(traffic(device)),
    },
  },
}

function traffic({ modem }: Device) {
  const { sent, received } = modem.traffic
  return { rx: received, tx: sent }
}
