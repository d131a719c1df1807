/** The modem: identity, temperature, restart and selection. */
import {
  asked,
  get,
  gsmctl,
  mobile,
  modem,
  modemAccepts,
  modemStatus,
  mustSucceed,
  post,
  said,
  slow,
  ubus,
  usedModem,
  write,
} from './build.js'
import { slotOf, tenthsOf } from './modem-values.js'
import type { Rows } from './operations.js'
import { fieldOf, firstOf, isObject, isOn, listOf, numberOf, outputOf, textOf } from './parse.js'

export const modemRows: Rows<'modemIdentity' | 'temperature' | 'rebootModem' | 'modems' | 'modemId' | 'simSlot'> = {
  modemIdentity: {
    // AT+COPS is in every modem of this generation.
    'legacy/ubus': asked('imwy', ([imei = '', model = '', manuf = '', rev = '']) => {
      return { imei, model, manuf, rev, operatorControl: true }
    }),
    '7/ubus': [
      {
        calls: () => [ubus(modem, 'info', {}, slow)],
        read([answer]) {
          if (!isObject(answer)) return undefined
          const cache = answer.cache
          return {
            imei: textOf(fieldOf(cache, 'imei'), answer.imei),
            model: textOf(answer.model, fieldOf(cache, 'model')),
            manuf: textOf(answer.manuf, fieldOf(cache, 'manuf')),
            rev: textOf(fieldOf(cache, 'firmware'), answer.firmware),
            operatorControl: isOn(answer.operator_scan),
          }
        },
      },
      {
        calls: () => [ubus(mobile, 'modems_info', {}, slow)],
        read([answer]) {
          const found = firstOf(fieldOf(answer, 'modems') ?? answer)
          if (!isObject(found)) return undefined
          return {
            imei: textOf(found.imei),
            model: textOf(found.modem, found.model, found.name),
            manuf: textOf(found.manuf, found.manufacturer),
            rev: textOf(found.fw_version, found.version),
            operatorControl: isOn(found.operator_scan ?? found.operators_scan),
          }
        },
      },
    ],
    '7/rest': [
      modemStatus((found) => ({
        imei: textOf(found.imei),
        model: textOf(found.model, found.name),
        manuf: textOf(found.manuf, found.manufacturer),
        rev: textOf(found.version),
        operatorControl: isOn(found.operators_scan),
      })),
    ],
  },
  temperature: {
    'legacy/ubus': [
      {
        calls: () => [gsmctl(['-c'])],
        read: ([answer]) => (outputOf(answer) === undefined ? undefined : { celsius: tenthsOf(said(answer)) }),
      },
    ],
    '7/ubus': [
      {
        calls: () => [ubus(modem, 'get_temperature')],
        read: ([answer]) => ({ celsius: tenthsOf(fieldOf(answer, 'temperature_value')) }),
      },
    ],
    '7/rest': [modemStatus((found) => ({ celsius: tenthsOf(found.temperature) }))],
  },
  rebootModem: {
    'legacy/ubus': [
      write({ calls: () => [gsmctl(['-A', 'AT+CFUN=1,1'], { ...slow, ...modemAccepts })] }),
      write({ calls: () => [gsmctl(['-Q'], { ...slow, ...mustSucceed })] }),
    ],
    '7/ubus': [
      write({
        needs: ['modemId'],
        calls: (_input, { modemId }) => [ubus(mobile, 'reboot_modem', { modem: modemId }, slow)],
      }),
      write({ needs: ['modemId'], calls: (_input, { modemId }) => [ubus('mctl', 'reboot', { id: modemId }, slow)] }),
      write({ calls: () => [gsmctl(['-Q'], { ...slow, ...mustSucceed })] }),
    ],
    '7/rest': [
      write({
        needs: ['modemId'],
        calls: (_input, { modemId }) => [post(`/api/modems/${modemId}/actions/reboot`, undefined, slow)],
      }),
    ],
  },
  // No modem of a legacy router has a name; a second one is not used.
  modems: {
    '7/ubus': [
      {
        calls: () => [ubus('gsm', 'info'), ubus(modem, 'info', {}, slow)],
        read([answer, used]) {
          const count = numberOf(fieldOf(answer, 'mdm_stats', 'num_modems'))
          return count === undefined
            ? undefined
            : { count, used: textOf(fieldOf(used, 'name'), fieldOf(used, 'usb_id')) }
        },
      },
      {
        calls: () => [ubus(mobile, 'get_all_modems')],
        read([answer]) {
          const list = listOf(fieldOf(answer, 'modems'))
          return { count: list.length, used: textOf(fieldOf(list[0], 'name'), fieldOf(list[0], 'id')) }
        },
      },
    ],
    '7/rest': [
      {
        calls: () => [get('/api/modems/status', slow)],
        read([answer]) {
          const used = usedModem(answer)
          return { count: listOf(answer).length, used: textOf(fieldOf(used, 'name'), fieldOf(used, 'id')) }
        },
      },
    ],
  },
  modemId: {
    '7/ubus': [
      {
        calls: () => [ubus(modem, 'info', {}, slow)],
        read: ([answer]) => textOf(fieldOf(answer, 'usb_id')) || undefined,
      },
      {
        calls: () => [ubus(mobile, 'get_all_modems')],
        read: ([answer]) => textOf(fieldOf(firstOf(fieldOf(answer, 'modems')), 'id')) || undefined,
      },
    ],
    '7/rest': [modemStatus((found) => textOf(found.id) || undefined)],
  },
  simSlot: {
    'legacy/ubus': [{ calls: () => [gsmctl(['-T'])], read: ([answer]) => slotOf(said(answer)) }],
    '7/ubus': [{ calls: () => [ubus(modem, 'get_sim_slot')], read: ([answer]) => slotOf(fieldOf(answer, 'index')) }],
    '7/rest': [modemStatus((found) => slotOf(found.active_sim))],
  },
}
