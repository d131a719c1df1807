/** The modem: identity, temperature, restart and selection. */
import {
  ask,
  asked,
  get,
  gsmctl,
  mobile,
  modem,
  modemAccepts,
  modemStatus,
  mustSucceed,
  post,
  printed,
  slow,
  ubus,
  usedModem,
  write,
} from './build.js'
import { fields, name, object, on, slot, tenths, text } from './fields.js'
import { slotOf, tenthsOf } from './modem-values.js'
import type { Rows } from './operations.js'
import { fieldOf, firstOf, isOn, listOf, numberOf, outputOf } from './parse.js'

/** `vuci.network.mobile modems_info`. */
const namedIdentity = object(
  fields({
    imei: text('imei'),
    model: text('modem', 'model', 'name'),
    manuf: text('manuf', 'manufacturer'),
    rev: text('fw_version', 'version'),
    operatorControl: (modem) => isOn(fieldOf(modem, 'operator_scan') ?? fieldOf(modem, 'operators_scan')),
  }),
)

export const modemRows: Rows<'modemIdentity' | 'temperature' | 'rebootModem' | 'modems' | 'modemId' | 'simSlot'> = {
  modemIdentity: {
    // AT+COPS is in every modem of this generation.
    'legacy/ubus': asked('imwy', ([imei = '', model = '', manuf = '', rev = '']) => {
      return { imei, model, manuf, rev, operatorControl: true }
    }),
    '7/ubus': [
      ask(
        ubus(modem, 'info', {}, slow),
        object(
          fields({
            imei: text('cache.imei', 'imei'),
            model: text('model', 'cache.model'),
            manuf: text('manuf', 'cache.manuf'),
            rev: text('cache.firmware', 'firmware'),
            operatorControl: on('operator_scan'),
          }),
        ),
      ),
      ask(ubus(mobile, 'modems_info', {}, slow), (answer) =>
        namedIdentity(firstOf(fieldOf(answer, 'modems') ?? answer)),
      ),
    ],
    '7/rest': [
      modemStatus(
        fields({
          imei: text('imei'),
          model: text('model', 'name'),
          manuf: text('manuf', 'manufacturer'),
          rev: text('version'),
          operatorControl: on('operators_scan'),
        }),
      ),
    ],
  },
  temperature: {
    'legacy/ubus': [
      ask(gsmctl(['-c']), (answer) =>
        outputOf(answer) === undefined ? undefined : { celsius: tenthsOf(printed(answer)) },
      ),
    ],
    '7/ubus': [ask(ubus(modem, 'get_temperature'), fields({ celsius: tenths('temperature_value') }))],
    '7/rest': [modemStatus(fields({ celsius: tenths('temperature') }))],
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
          return count === undefined ? undefined : { count, used: text('name', 'usb_id')(used) }
        },
      },
      ask(ubus(mobile, 'get_all_modems'), (answer) => ({
        count: listOf(fieldOf(answer, 'modems')).length,
        used: text('modems.0.name', 'modems.0.id')(answer),
      })),
    ],
    '7/rest': [
      ask(get('/api/modems/status', slow), (answer) => ({
        count: listOf(answer).length,
        used: text('name', 'id')(usedModem(answer)),
      })),
    ],
  },
  modemId: {
    '7/ubus': [
      ask(ubus(modem, 'info', {}, slow), name('usb_id')),
      ask(ubus(mobile, 'get_all_modems'), name('modems.0.id', 'modems.id')),
    ],
    '7/rest': [modemStatus(name('id'))],
  },
  simSlot: {
    'legacy/ubus': [ask(gsmctl(['-T']), (answer) => slotOf(printed(answer)))],
    '7/ubus': [ask(ubus(modem, 'get_sim_slot'), slot('index'))],
    '7/rest': [modemStatus(slot('active_sim'))],
  },
}
