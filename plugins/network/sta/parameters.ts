import type { Caller, ConfigKey, PluginContext } from 'rtk-base/plugin'
import type { StationProfile } from 'rtk-base/services'
import { Type } from 'typebox'

export interface Parameters {
  readonly ssid: ConfigKey<string>
  readonly password: ConfigKey<string>
  readonly hidden: ConfigKey<boolean>
  /** Undefined without station mode. */
  profile(): StationProfile | undefined
}

const mostSsid_bytes = 32

export function defineParameters({ config }: PluginContext, reaches: (caller: Caller) => boolean): Parameters {
  const trial = { reaches }
  const ssid = config.define('sta-ssid', SsidSchema, { default: '', trial, title: 'WiFi: network' })
  const password = config.define('sta-pswd', PasswordSchema, {
    default: '',
    secret: true,
    trial,
    title: 'WiFi: password',
  })
  const hidden = config.define('sta-hidden', HiddenSchema, {
    default: false,
    trial,
    title: 'WiFi: the network hides its name',
  })
  config.rule([ssid.name], (get) => {
    const bytes = Buffer.byteLength(String(get(ssid.name)))
    return bytes <= mostSsid_bytes ? undefined : `an SSID has at most ${mostSsid_bytes} bytes, not ${bytes}`
  })
  return {
    ssid,
    password,
    hidden,
    profile: () =>
      ssid.get() === ''
        ? undefined
        : { ssid: ssid.get(), password: password.get(), ...(hidden.get() && { hidden: true }) },
  }
}

export const SsidSchema = Type.String({
  maxLength: mostSsid_bytes,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
  description: 'name of the network, at most 32 bytes in UTF-8; empty: no WiFi',
})
const HiddenSchema = Type.Boolean({
  description: 'On: the station sends the name to find the network, and others can receive it',
})
const PasswordSchema = Type.String({
  pattern: '^(|[ -~]{8,63}|[0-9A-Fa-f]{64})$',
  description: '8 to 63 printable characters, or 64 hexadecimal digits; empty: an open network',
})
