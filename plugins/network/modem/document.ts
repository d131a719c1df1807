/** The `modem` block. Shapes and units: schemas/info/modem.ts. */
import type { ModemInfo } from 'rtk-base/schemas'
import { roundedSignal } from './state/history.js'
import type { Readings } from './state/readings.js'

export function identityBlock({ identity }: Readings): Pick<ModemInfo, 'imei' | 'model' | 'manuf' | 'rev' | 'support'> {
  const { imei = '', model = '', manuf = '', rev = '', operatorControl = false } = identity.value ?? {}
  return { imei, model, manuf, rev, support: { operator: operatorControl } }
}

export function stateBlock(readings: Readings, pending: string[]): ModemInfo['state'] {
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

export function configBlock({ operator, pingHost, apn }: Readings): Omit<ModemInfo['cfg'], 'apn_choice'> {
  const { apn: name = '', user = '', pswd = '' } = apn.value ?? {}
  return { plmn: Number(operator.value?.plmn ?? 0), ping_reboot: pingHost.value ?? '', apn: name, user, pswd }
}

export function simBlock({ sim }: Readings): ModemInfo['sim'] {
  const { state = 'absent', imsi = '', iccid = '' } = sim.value ?? {}
  return { imsi, iccid, state }
}
