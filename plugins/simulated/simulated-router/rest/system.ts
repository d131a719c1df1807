/** Login, and the router's own values in REST. */

import { verifyImage } from '../device/identity.js'
import { hardware } from '../mobile/readings.js'
import { type Endpoint, failure, success } from './answer.js'

export const login: Endpoint = ({ device, data, address }) => {
  const { username, password } = data
  if (typeof username !== 'string' || typeof password !== 'string') return failure('request')
  if (!device.login(username, password, address)) return failure('login')
  if (device.faults.firstLogin) return failure('firstLogin')
  const { id, life_s } = device.tokens.create(username, device.options.sessionLife_s)
  return success({ username, group: 'root', token: id, expires: life_s - 1 })
}

export const logout: Endpoint = ({ device, session }) => {
  if (session) device.tokens.end(session.id)
  return success({ response: 'Logged out' })
}

export const sessionStatus: Endpoint = ({ session }) =>
  success({ active: session !== undefined, expires: session?.life_s })

/** Open to everybody. */
export const unauthorizedStatus: Endpoint = ({ device: { firmware, identity } }) =>
  success({
    lang: 'en',
    filename: null,
    device_name: identity.model,
    device_model: identity.model,
    api_version: '1.9',
    device_identifier: identity.serial.slice(-4),
    fw_version: firmware.version,
  })

const two = (value: number) => String(Math.floor(value)).padStart(2, '0')

export const usage: Endpoint = ({ device: { uptime_s, time_s } }) =>
  success({
    uptime: `${two(uptime_s / 3600)}h ${two((uptime_s % 3600) / 60)}m ${two(uptime_s % 60)}s`,
    uptime_seconds: uptime_s,
    localtime: time_s,
    load: { min1: '0.14', min5: '0.18', min15: '0.12' },
    memory: { total: 243.8, free: 135.3, cached: 40.2, buffered: 6.1 },
  })

export const deviceStatus: Endpoint = ({ device: { identity, firmware, modem } }) => {
  const { mac, macEth, name, serial, hwver, batch, blver, model } = identity
  return success({
    mnfinfo: { mac, macEth, name, serial, hwver, batch, blver },
    static: {
      fw_version: firmware.version,
      device_name: model,
      hostname: `Teltonika-${model}`,
      kernel: '5.4.147',
      model: `${firmware.family} STM32`,
    },
    board: {
      modems: [
        { id: hardware.current.usbId, num: '1', simcount: 2, builtin: true, operator_scan: modem.operatorControl },
      ],
      hwinfo: { wifi: true, dual_sim: true, mobile: true },
    },
  })
}

export const reboot: Endpoint = ({ device }) => {
  device.delays.after(2_000, () => device.onPower('reboot', device.options.reboot_s))
  return success({})
}

export const factoryReset: Endpoint = ({ device }) => {
  device.delays.after(2_000, () => device.onPower('factory', device.options.flash_s))
  return success({ lan_ip: '192.168.1.1' })
}

const uploaded = '/tmp/firmware.img'

export const uploadFirmware: Endpoint = async ({ device, raw, contentType }) => {
  let file: Buffer | undefined
  try {
    const form = await new Response(new Uint8Array(raw), { headers: { 'content-type': contentType } }).formData()
    const part = form.get('file')
    if (part instanceof Blob) file = Buffer.from(await part.arrayBuffer())
  } catch {
    return failure('request', 'Firmware')
  }
  if (file === undefined) return failure('request', 'Firmware')
  if (device.files.write(uploaded, file) !== undefined) return failure('request', 'Firmware')
  return success({ file_size: file.length, path: uploaded })
}

export const verifyFirmware: Endpoint = ({ device }) => {
  const image = device.files.read(uploaded)
  const verified = image && verifyImage(image, device.firmware)
  if (verified === undefined) return failure('request', 'Firmware')
  return 'error' in verified
    ? success({ valid: '0', allow_backup: '0', forceable: '0', error: verified.error })
    : success({ valid: '1', allow_backup: '1', forceable: '1', is_valid: true, version: verified.version })
}

export const upgradeFirmware: Endpoint = ({ device, data }) => {
  const image = device.files.read(uploaded)
  const verified = image && verifyImage(image, device.firmware)
  if (verified === undefined || 'error' in verified) return failure('request', 'Firmware')
  device.upgrade(verified.version, data.keep_settings !== '0')
  return success({})
}

export const firmwareProgress: Endpoint = () => success({ process: 'none', percents: '0' })
