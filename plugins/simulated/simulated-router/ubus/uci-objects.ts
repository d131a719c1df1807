/** `uci`: reads and changes the configuration. Changes wait in the session until `commit` or `apply` (reference §3.4). */

import type { Device } from '../device/device.js'
import { pinStates } from '../mobile/operators.js'
import { hardware, registrationOf, signalOf } from '../mobile/readings.js'
import { type Config, findSection, type Section, type UciStore, type UciValue } from '../uci/store.js'
import {
  type Args,
  type Call,
  done,
  failed,
  isObject,
  type Method,
  type Objects,
  ok,
  type Reply,
  text,
  type UbusObject,
  ubusStatus,
} from './object.js'

const identifier = /^[A-Za-z0-9_]{1,64}$/

/** As libuci writes them: everything is text. Undefined: not a value. */
function uciValue(value: unknown): UciValue | undefined {
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return undefined
  const items = value.map(uciValue)
  return items.every((item) => typeof item === 'string') ? items : undefined
}

const shown = (section: Section, index: number) => ({
  '.anonymous': section.anonymous,
  '.type': section.type,
  '.name': section.name,
  '.index': index,
  ...Object.fromEntries(section.options),
})

function matching(config: Config, args: Args): Section[] {
  const [type, match] = [text(args, 'type'), args.match]
  return config.filter(
    (section) =>
      (type === undefined || section.type === type) &&
      (!isObject(match) ||
        Object.entries(match).every(([name, value]) => section.options.get(name) === uciValue(value))),
  )
}

/** Looks the configuration up as the session sees it. */
const onConfig =
  (method: (config: Config, name: string, args: Args, call: Call) => Reply): Method =>
  (args, call) => {
    const name = text(args, 'config')
    if (name === undefined) return failed(ubusStatus.invalidArgument)
    const config = call.device.uci.view(name, call.session?.pending)
    return config === undefined ? failed(ubusStatus.notFound) : method(config, name, args, call)
  }

const read = onConfig((config, _name, args) => {
  const [section, option] = [text(args, 'section'), text(args, 'option')]
  if (section === undefined) {
    const found = matching(config, args)
    return ok({ values: Object.fromEntries(found.map((one) => [one.name, shown(one, config.indexOf(one))])) })
  }
  const found = findSection(config, section)
  if (found === undefined) return failed(ubusStatus.notFound)
  if (option === undefined) return ok({ values: shown(found, config.indexOf(found)) })
  const value = found.options.get(option)
  return value === undefined ? failed(ubusStatus.notFound) : ok({ value })
})

/** The sections that `section`, or `type` and `match`, name. */
function named(config: Config, args: Args): Section[] {
  const section = text(args, 'section')
  if (section === undefined) return matching(config, args)
  const found = findSection(config, section)
  return found ? [found] : []
}

function valuesOf(args: Args): [string, UciValue][] | undefined {
  if (!isObject(args.values)) return undefined
  const values = Object.entries(args.values).map(([name, value]) => [name, uciValue(value)] as const)
  const valid = values.every(([name, value]) => identifier.test(name) && value !== undefined)
  return valid ? (values as [string, UciValue][]) : undefined
}

/** Adds to the session's pending changes. */
function change(call: Call, config: string, ...deltas: Parameters<UciStore['change']>[2][]): void {
  if (call.session) call.device.uci.change(config, call.session.pending, ...deltas)
}

export const uciObject: UbusObject = {
  methods: {
    get: read,
    state: read,
    configs: (_args, { device }) => ok({ configs: device.uci.names }),
    set: onConfig((config, name, args, call) => {
      const values = valuesOf(args)
      if (values === undefined) return failed(ubusStatus.invalidArgument)
      if (text(args, 'section') === undefined && args.type === undefined && args.match === undefined) {
        return failed(ubusStatus.invalidArgument)
      }
      const sections = named(config, args)
      if (sections.length === 0) return failed(ubusStatus.notFound)
      for (const section of sections) {
        for (const [option, value] of values) change(call, name, { kind: 'set', section: section.name, option, value })
      }
      return done
    }),
    add: onConfig((config, name, args, call) => {
      const [type, given] = [text(args, 'type'), text(args, 'name')]
      const values = args.values === undefined ? [] : valuesOf(args)
      if (type === undefined || !identifier.test(type) || values === undefined)
        return failed(ubusStatus.invalidArgument)
      if (given !== undefined && (!identifier.test(given) || findSection(config, given))) {
        return failed(ubusStatus.invalidArgument)
      }
      const section = given ?? call.device.uci.freeName(name, type, call.session?.pending)
      change(call, name, { kind: 'add', section, type, anonymous: given === undefined })
      for (const [option, value] of values) change(call, name, { kind: 'set', section, option, value })
      return ok({ section })
    }),
    delete: onConfig((config, name, args, call) => {
      const sections = named(config, args)
      if (sections.length === 0) return failed(ubusStatus.notFound)
      const several = Array.isArray(args.options) ? args.options.filter((one) => typeof one === 'string') : []
      const options = text(args, 'option') === undefined ? several : [text(args, 'option')]
      for (const { name: section } of sections) {
        if (options.length === 0) change(call, name, { kind: 'remove', section })
        for (const option of options) change(call, name, { kind: 'remove', section, ...(option ? { option } : {}) })
      }
      return done
    }),
    rename: onConfig((config, name, args, call) => {
      const [section] = named(config, args)
      const [option, to] = [text(args, 'option'), text(args, 'name')]
      if (section === undefined) return failed(ubusStatus.notFound)
      if (to === undefined || !identifier.test(to)) return failed(ubusStatus.invalidArgument)
      change(call, name, { kind: 'rename', section: section.name, name: to, ...(option ? { option } : {}) })
      return done
    }),
    changes: (args, { session }) => {
      const asList = (config: string) =>
        (session?.pending.get(config) ?? []).map((delta) => {
          if (delta.kind === 'set') return ['set', delta.section, delta.option, delta.value]
          if (delta.kind === 'add') return ['add', delta.section, delta.type]
          if (delta.kind === 'remove') return ['remove', delta.section, ...(delta.option ? [delta.option] : [])]
          return ['rename', delta.section, delta.name]
        })
      const config = text(args, 'config')
      if (config !== undefined) return ok({ changes: asList(config) })
      return ok({
        changes: Object.fromEntries([...(session?.pending.keys() ?? [])].map((name) => [name, asList(name)])),
      })
    },
    commit: onConfig((_config, name, _args, { device, session }) => {
      if (session) device.uci.commit(name, session.pending)
      return done
    }),
    logged_commit: onConfig((_config, name, _args, { device, session }) => {
      if (session) device.uci.commit(name, session.pending)
      return done
    }),
    revert: onConfig((_config, name, _args, { session }) => {
      session?.pending.delete(name)
      return done
    }),
    apply: (_args, { device, session }) => {
      if (session === undefined || session.pending.size === 0) return failed(ubusStatus.noData)
      for (const config of [...session.pending.keys()]) device.uci.commit(config, session.pending)
      return done
    },
    confirm: () => failed(ubusStatus.noData),
  },
}

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
