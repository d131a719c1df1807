/** REST over the configuration: each call writes, commits and reloads. */
import type { Device } from '../device/device.js'
import { type Delta, findSection, type Section, type UciValue } from '../uci/store.js'
import { type Endpoint, failure, type RestRequest, success } from './answer.js'

interface Resource {
  config: string
  /** Sections of these types. */
  types: readonly string[]
  /** Id of the section in REST. */
  id?: (section: Section, index: number) => string
  /** The configuration is one section, not a list of them. */
  single?: boolean
  /** Options that it accepts; without it: all. */
  options?: readonly string[]
}

const shown = (id: string, section: Section) => ({ id, '.type': section.type, ...Object.fromEntries(section.options) })

function sectionsOf({ uci }: Device, { config, types, id }: Resource): [string, Section][] {
  const found = (uci.view(config) ?? []).filter(({ type }) => types.includes(type))
  return found.map((section, index) => [id?.(section, index) ?? section.name, section])
}

const uciValue = (value: unknown): UciValue | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(typeof value === 'boolean' ? Number(value) : value)
    : Array.isArray(value) && value.every((one) => typeof one === 'string')
      ? value
      : undefined

function write(
  device: Device,
  resource: Resource,
  section: Section,
  data: Readonly<Record<string, unknown>>,
): string | undefined {
  const deltas: Delta[] = []
  for (const [option, given] of Object.entries(data)) {
    if (option === 'id' || option.startsWith('.')) continue
    const value = uciValue(given)
    const known = resource.options === undefined || resource.options.includes(option)
    if (value === undefined || !known || !/^\w{1,64}$/.test(option)) return option
    deltas.push({ kind: 'set', section: section.name, option, value })
  }
  device.uci.commit(resource.config, new Map([[resource.config, deltas]]))
  return undefined
}

const nameIn = (resource: Resource, path: readonly string[]): string | undefined =>
  resource.single ? undefined : path.at(-1)

const read =
  (resource: Resource): Endpoint =>
  ({ device, path }) => {
    const all = sectionsOf(device, resource)
    const wanted = nameIn(resource, path)
    if (resource.single) return all[0] ? success(shown(...all[0])) : failure('section', resource.config)
    if (wanted === undefined) return success(all.map(([id, section]) => shown(id, section)))
    const found = all.find(([id]) => id === wanted)
    return found ? success(shown(...found)) : failure('section', resource.config, wanted)
  }

const update =
  (resource: Resource): Endpoint =>
  ({ device, path, data }) => {
    const all = sectionsOf(device, resource)
    const found = resource.single ? all[0] : all.find(([id]) => id === nameIn(resource, path))
    if (found === undefined) return failure('section', resource.config, nameIn(resource, path))
    const [id, section] = found
    const invalid = write(device, resource, section, data)
    if (invalid !== undefined) return failure('option', invalid, id)
    const after = findSection(device.uci.view(resource.config) ?? [], section.name) ?? section
    return success(shown(id, after))
  }

const add =
  (resource: Resource): Endpoint =>
  ({ device, data }) => {
    const [type = ''] = resource.types
    const section = device.uci.freeName(resource.config, type)
    device.uci.commit(resource.config, new Map([[resource.config, [{ kind: 'add', section, type, anonymous: true }]]]))
    const made = findSection(device.uci.view(resource.config) ?? [], section)
    const invalid = made && write(device, resource, made, data)
    if (made === undefined || invalid !== undefined) return failure('option', invalid ?? type)
    return success({ id: section, ...data })
  }

const interfaces: Resource = { config: 'network', types: ['interface'] }
const simCards: Resource = { config: 'simcard', types: ['sim'], id: (_section, index) => String(index + 1) }
const pingReboot: Resource = { config: 'ping_reboot', types: ['ping_reboot'] }
const security: Resource = {
  config: 'ip_blockd',
  types: ['ip_blockd', 'globals'],
  single: true,
  options: ['enabled', 'max_attempt_count', 'reboot_clear', 'enable_mac_filter'],
}
const accessPoints: Resource = { config: 'wireless', types: ['wifi-iface'] }

export const config = {
  interfaces: { read: read(interfaces), update: update(interfaces) },
  simCards: {
    read: read(simCards),
    list: (request: RestRequest) => read(simCards)({ ...request, path: [] }),
    update: update(simCards),
  },
  pingReboot: { read: read(pingReboot), update: update(pingReboot), add: add(pingReboot) },
  security: { read: read(security), update: update(security) },
  accessPoints: { read: read(accessPoints), update: update(accessPoints) },
}

export const unblockAll: Endpoint = ({ device }) => {
  device.loginBlock.unblock()
  return success({})
}

export const wirelessStatus: Endpoint = ({ device: { identity, uci } }) => {
  const of = (option: string) => uci.text('wireless', 'default_radio0', option)
  return success([
    {
      id: 'default_radio0',
      wifi_id: 'radio0',
      ifname: 'wlan0',
      ssid: of('ssid'),
      bssid: identity.wap.bssid,
      mode: 'Master',
      channel: 6,
      encryption: 'WPA2 PSK (CCMP)',
      num_assoc: 0,
      clients: [],
      assoclist: {},
      txpower: 20,
    },
  ])
}
