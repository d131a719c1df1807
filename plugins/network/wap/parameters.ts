import { randomInt } from 'node:crypto'
import type { Caller, ConfigKey, PluginContext } from 'rtk-base/plugin'
import { Type } from 'typebox'

export interface Parameters {
  readonly enabled: ConfigKey<number>
  readonly ssid: ConfigKey<string>
  readonly password: ConfigKey<string>
  readonly channel: ConfigKey<number>
  readonly txPower: ConfigKey<number>
  readonly inactiveTime: ConfigKey<number>
  readonly maxStations: ConfigKey<number>
  readonly gatewayMac: ConfigKey<string>
  readonly gatewayDns: ConfigKey<string>
  readonly country: ConfigKey<string>
}

/** @param reaches see `ConfigOptions.trial`: a caller that uses the access point with its current settings */
export function defineParameters(ctx: PluginContext, reaches: (caller: Caller) => boolean): Parameters {
  const { config, serial } = ctx
  const trial = { reaches }
  const parameters: Parameters = {
    enabled: config.define('wap-en', Type.Integer({ minimum: 0, maximum: 1 }), {
      default: 1,
      trial,
      title: 'Access point',
    }),
    ssid: config.define('wap-ssid', SsidSchema, {
      default: `rtk-base-${serial}`.slice(0, mostSsid_bytes),
      trial,
      title: 'Access point: network name',
    }),
    password: config.define('wap-pswd', PasswordSchema, {
      default: '',
      secret: true,
      trial,
      title: 'Access point: password',
    }),
    channel: config.define('wap-chan', Type.Integer({ minimum: 1, maximum: 13 }), {
      default: 6,
      trial,
      title: 'Access point: channel',
    }),
    txPower: config.define('wap-txpwr', Type.Integer({ minimum: 2, maximum: 20 }), {
      default: 20,
      trial,
      title: 'Access point: transmit power, dBm',
    }),
    inactiveTime: config.define('wap-inactive-time', InactiveSchema, {
      default: 300,
      trial,
      title: 'Access point: silent clients are removed after, s',
    }),
    maxStations: config.define('wap-max-sta', Type.Integer({ minimum: 1, maximum: 64 }), {
      default: 8,
      trial,
      title: 'Access point: maximum number of clients',
    }),
    gatewayMac: config.define('wap-revgw-mac', MacSchema, {
      default: '',
      trial,
      title: 'Reverse gateway: MAC of the client',
    }),
    gatewayDns: config.define('wap-revgw-dns', Ip4Schema, { default: '', trial, title: 'Reverse gateway: DNS server' }),
    country: config.define('wifi-reg-cc', CountrySchema, { default: '', trial, title: 'WiFi: country' }),
  }
  config.rule([parameters.ssid.name], (get) => {
    const bytes = Buffer.byteLength(String(get(parameters.ssid.name)))
    return bytes <= mostSsid_bytes ? undefined : `an SSID has at most ${mostSsid_bytes} bytes, not ${bytes}`
  })
  return parameters
}

const mostSsid_bytes = 32

const SsidSchema = Type.String({
  minLength: 1,
  maxLength: mostSsid_bytes,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
  description: 'at most 32 bytes in UTF-8',
})
const PasswordSchema = Type.String({
  pattern: '^(|[ -~]{8,63}|[0-9A-Fa-f]{64})$',
  description: 'WPA2: 8 to 63 printable characters, or 64 hexadecimal digits; empty: the device password',
})
const InactiveSchema = Type.Integer({ minimum: 0, maximum: 86_400, description: '0: clients are never removed' })
const MacSchema = Type.String({
  pattern: '^(|[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5})$',
  description: 'MAC of the access point client that provides internet access; empty: none',
})
const Ip4Schema = Type.String({
  pattern: '^(|(25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.(25[0-5]|2[0-4]\\d|1?\\d?\\d)){3})$',
  description: 'DNS server while the reverse gateway is used; empty: the gateway itself',
})
const CountrySchema = Type.String({
  pattern: '^(|[A-Z]{2})$',
  description: 'ISO 3166, e.g. NL; empty: the setting of the machine',
})

const key = 'password'
/** Without what looks alike in print: 0 O 1 l I. */
const letters = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const length = 12

/**
 * The password that this device has while `wap-pswd` is empty: made once, of random numbers, and kept in the protected store, so that a
 * factory reset keeps it as a label would. No two devices have the same.
 */
export async function devicePassword({ store }: Pick<PluginContext, 'store'>): Promise<string> {
  const stored = await store.protected.get(key)
  if (typeof stored === 'string' && stored.length >= length) return stored
  const made = Array.from({ length }, () => letters[randomInt(letters.length)]).join('')
  await store.protected.set(key, made)
  return made
}
