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
      stats: readings.get('traffic') ?? { sent: 0, recvd: 0 },
      scan: scan.shown,
    }),
    config: () => ({ cfg: { ...configBlock(readings), apn_choice: apn.choice } }),
    detail: { runtime: () => ({ history: history.block }) },
  })
}

function identityBlock(readings: Readings): Pick<ModemInfo, 'imei' | 'model' | 'manuf' | 'rev' | 'support'> {
  const { imei = '', model = '', manuf = '', rev = '', operatorControl = false } = readings.get('modemIdentity') ?? {}
  return { imei, model, manuf, rev, support: { operator: operatorControl } }
}

function stateBlock(readings: Readings, pending: string[]): ModemInfo['state'] {
  const { connected } = readings
  const {
    network = 'unknown',
    operator = '',
    carrier = '',
    plmn = 0,
    technology = '',
    cellId = '',
  } = readings.get('registration') ?? {}
  const { rssi = 0, ...rest } = roundedSignal(readings.get('signal'))
  const temp = readings.get('temperature')?.celsius
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

function configBlock(readings: Readings): Omit<ModemInfo['cfg'], 'apn_choice'> {
  const { apn: name = '', user = '', pswd = '' } = readings.get('apn') ?? {}
  const { enabled = false, host = '' } = readings.get('pingReboot') ?? {}
  const plmn = Number(readings.get('operatorSelection')?.plmn ?? 0)
  return { plmn, ping_reboot: enabled ? host : '', apn: name, user, pswd }
}

function simBlock(readings: Readings): ModemInfo['sim'] {
  const { state = 'absent', imsi = '', iccid = '' } = readings.get('sim') ?? {}
  return { imsi, iccid, state }
}
