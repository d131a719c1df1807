/** The few AT commands that clients use through `gsmctl -A` and `exec` (3GPP TS 27.007). */
import type { Device } from '../device/device.js'
import { modeIds } from './operators.js'
import { hardware, registrationOf, scanOf } from './readings.js'

const quoted = (text: string) => `"${text.replaceAll('"', '')}"`

/** Access technology as +COPS numbers it. */
const copsAct: Record<string, number> = { GSM: 0, WCDMA: 2, LTE: 7, NR: 11 }

async function scan({ modem, delays, options }: Device): Promise<string> {
  if (!modem.operatorControl) return 'ERROR'
  if (modem.scanning) return '+CME ERROR: 14'
  const found = scanOf(modem)
  modem.beginScan()
  await delays.wait(options.scan_s * 1000)
  const entries = found.map(
    ({ state_id, name, short, plmn, technology }) =>
      `(${state_id},${quoted(name)},${quoted(short)},${quoted(plmn)},${copsAct[technology]})`,
  )
  return `+COPS: ${entries.join(',')},,(0,1,2,3,4),(0,1,2)\nOK`
}

async function select({ modem, delays, options }: Device, args: string): Promise<string> {
  const [mode, , plmn = ''] = args.split(',').map((part) => part.trim().replaceAll('"', ''))
  if (!modem.operatorControl || modem.scanning) return '+CME ERROR: 14'
  if ((mode === '1' || mode === '4') && !/^\d{5,6}$/.test(plmn)) return '+CME ERROR: 50'
  await delays.wait(options.select_s * 1000)
  if (mode === '0') modem.select('auto', '')
  else if (mode === '1') modem.select('manual', plmn)
  else if (mode === '4') modem.select('manual-auto', plmn)
  else if (mode === '2') modem.select('unregister', '')
  else return 'ERROR'
  return 'OK'
}

export async function runAt(device: Device, command: string): Promise<string> {
  const { modem, identity, firmware } = device
  const at = command.trim().toUpperCase()
  if (!modem.online || modem.scanning) return 'ERROR'
  if (at === 'AT') return 'OK'
  if (at === 'AT+COPS=?') return scan(device)
  if (at.startsWith('AT+COPS=')) return select(device, command.trim().slice('AT+COPS='.length))
  if (at === 'AT+COPS?') {
    const { operator } = registrationOf(modem)
    const mode = modeIds[modem.selection.mode] - 1
    return operator
      ? `+COPS: ${mode},2,${quoted(operator.plmn)},${copsAct[operator.technology]}\nOK`
      : `+COPS: ${mode}\nOK`
  }
  if (at === 'AT+CGSN') return `${identity.imei}\nOK`
  if (at === 'AT+CGMR') return `${(firmware.legacy ? hardware.legacy : hardware.current).firmware}\nOK`
  if (at === 'AT+CIMI') return modem.sim.state === 'ready' ? `${modem.sim.imsi}\nOK` : '+CME ERROR: 10'
  if (at === 'AT+CFUN=1,1') {
    modem.start()
    return 'OK'
  }
  return 'ERROR'
}
