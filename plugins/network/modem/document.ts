/** The `modem` block. Shapes and units: schemas/info/modem.ts. */
import type { InfoBlock, PluginContext } from 'rtk-base/plugin'
import type { ModemInfo } from 'rtk-base/schemas'
import type { ApnKeeper } from './apn/keeper.js'
import type { Jobs } from './jobs.js'
import type { OperatorScan } from './operator/scan.js'
import { roundedSignal, type SignalHistory } from './state/history.js'
import type { Readings } from './state/readings.js'

interface Sources {
  readings: Readings
  jobs: Jobs
  history: SignalHistory
  scan: OperatorScan
  apn: ApnKeeper
}

export function addDocument(ctx: PluginContext, { readings, jobs, history, scan, apn }: Sources): InfoBlock {
  return ctx.info.block('modem', {
    static: () => identityBlock(readings),
    runtime: () => ({
      state: stateBlock(readings, jobs.pending),
      sim: simBlock(readings),
      stats: readings.traffic.value ?? { sent: 0, recvd: 0 },
      scan: scan.shown,
    }),
    config: () => ({ cfg: { ...configBlock(readings), apn_choice: apn.choice } }),
    detail: { runtime: () => ({ history: history.block }) },
  })
}

function identityBlock({ identity }: Readings): Pick<ModemInfo, 'imei' | 'model' | 'manuf' | 'rev' | 'support'> {
  const { imei = '', model = '', manuf = '', rev = '', operatorControl = false } = identity.value ?? {}
  return { imei, model, manuf, rev, support: { operator: operatorControl } }
}

function stateBlock(readings: Readings, pending: string[]): ModemInfo['state'] {
  const { registration, signal, temperature_c, connected } = readings
  const {
    network = 'unknown',
    operator = '',
    carrier = '',
    plmn = 0,
    technology = '',
    cellId = '',
  } = registration.value ?? {}
  const { rssi = 0, ...rest } = roundedSignal(signal.value)
  const temp = temperature_c.value
  return {
    network,
    operator,
    carrier,
    data: connected === undefined ? '' : connected ? 'connected' : 'disconnected',
    connection_type: technology,
    cell_id: cellId,
    rssi,
    plmn,
    temp: Math.round(temp ?? 0) + 0,
    temp_valid: temp !== undefined,
    pending,
    ...rest,
  }
}

function configBlock({ operator, pingHost, apn }: Readings): Omit<ModemInfo['cfg'], 'apn_choice'> {
  const { apn: name = '', user = '', pswd = '' } = apn.value ?? {}
  return { plmn: Number(operator.value?.plmn ?? 0), ping_reboot: pingHost.value ?? '', apn: name, user, pswd }
}

function simBlock({ sim }: Readings): ModemInfo['sim'] {
  const { state = 'absent', imsi = '', iccid = '' } = sim.value ?? {}
  return { imsi, iccid, state }
}
