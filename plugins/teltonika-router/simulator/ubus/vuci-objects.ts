/** `vuci.*`: what the WebUI of 7.00 to 7.07 speaks to; later versions have REST instead (reference §5). */
import type { Device } from '../device/device.js'
import { pinStates } from '../mobile/enumerations.js'
import { hardware, registrationOf, signalOf } from '../mobile/readings.js'
import { failed, type Objects, ok, text, ubusStatus } from './object.js'

const present = ({ firmware }: Device) => !firmware.legacy && firmware.minor <= 7

function mobileInfo(device: Device) {
  const { modem, identity } = device
  const { operator, status, technology, cellId } = registrationOf(modem)
  const { rssi, ...others } = signalOf(modem) ?? {}
  const ready = modem.sim.state === 'ready'
  const { sent, received } = modem.traffic
  return {
    id: hardware.current.usbId,
    imei: identity.imei,
    model: hardware.current.model,
    version: hardware.current.firmware,
    imsi: ready ? modem.sim.imsi : 'N/A',
    iccid: ready ? modem.sim.iccid : 'N/A',
    signal: rssi === undefined ? 'N/A' : String(rssi),
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)])),
    operator: operator?.name ?? 'N/A',
    opernum: operator?.plmn ?? 'N/A',
    conntype: operator ? technology.netMode : 'N/A',
    netstate: status,
    cellid: cellId || 'N/A',
    state: modem.connected ? 'Connected' : 'Disconnected',
    txbytes: String(sent),
    rxbytes: String(received),
  }
}

export const vuciObjects: Objects = {
  'vuci.system': {
    present,
    methods: {
      version: (_args, { device }) => ok({ version: device.firmware.version }),
      cpu_time: () => ok({ times: [[120_044, 0, 44_120, 9_731_202, 311, 0, 1_204]] }),
    },
  },
  'vuci.network.mobile': {
    present,
    methods: {
      get_all_modems: (_args, { device }) =>
        ok({
          modems: device.modem.online
            ? [
                {
                  id: hardware.current.usbId,
                  name: 'Internal modem',
                  sim_count: 2,
                  version: hardware.current.firmware,
                  builtin: true,
                  primary: true,
                },
              ]
            : [],
        }),
      mobile_info: (args, { device }) => {
        if (text(args, 'modem') === undefined) return failed(ubusStatus.invalidArgument)
        if (args.modem !== hardware.current.usbId || !device.modem.online) return failed(ubusStatus.notFound)
        return ok({ mobile: mobileInfo(device) })
      },
      mobile_status: (_args, { device }) =>
        ok({
          mobile: [{ ...mobileInfo(device), simstate: `SIM 1 (${pinStates[device.modem.sim.state].sim})` }],
        }),
      modems_info: (_args, { device }) =>
        ok({
          modems: [
            { imei: device.identity.imei, modem: hardware.current.usbId, fw_version: hardware.current.firmware },
          ],
        }),
      reboot_modem: (args, { device }) => {
        if (args.modem !== hardware.current.usbId) return failed(ubusStatus.invalidArgument)
        device.modem.start()
        return [ubusStatus.ok]
      },
    },
  },
}
