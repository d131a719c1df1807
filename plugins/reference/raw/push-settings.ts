/** Where the raw data is pushed to: the parameters of the plugin. */

import { readRecordSync } from 'rtk-base/files'
import { hostTrouble, reachOf, urlHost } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import { Type } from 'typebox'
import { type PushTarget, urlTrouble } from './push-server.js'

/** A user and a password, or a bearer token (RFC 6750). */
const login = '^$|^[^\\x00-\\x1f\\x7f:]*:[^\\x00-\\x1f\\x7f]*$|^[A-Za-z0-9._~+/=-]+$'

interface Options {
  /** PEM, or the path of its file; empty: the public authorities alone. */
  readonly ca: string
  readonly rate_kbit_s: number
}

/** @returns the names of the parameters, and the server that they name; undefined: nothing is pushed */
export function pushSettings(ctx: PluginContext, { ca, rate_kbit_s }: Options) {
  const isOn = ctx.config.define('raw-push-en', Type.Integer({ minimum: 0, maximum: 1 }), {
    default: 0,
    title: 'Raw data: push to a server',
  })
  const url = ctx.config.define(
    'raw-push-url',
    Type.String({ maxLength: 256, description: 'https URL of a folder. The names of the files are appended' }),
    { default: '', title: 'Raw data: address of the server' },
  )
  const secret = ctx.config.define(
    'raw-push-login',
    Type.String({ maxLength: 1_024, pattern: login, description: 'user:password, or a bearer token; empty: none' }),
    { default: '', secret: true, boundTo: [url.name], title: 'Raw data: login at the server' },
  )
  const reach = reachOf(ctx)
  ctx.config.rule([url.name, isOn.name], (get) => {
    const text = String(get(url.name))
    const trouble = urlTrouble(text, reach.isLocal) ?? (text === '' ? undefined : hostTrouble(urlHost(text), reach))
    if (trouble) return `raw-push-url ${trouble}`
    return get(isOn.name) === 1 && text === '' ? 'raw-push-en needs raw-push-url' : undefined
  })
  const pem = () => (ca === '' || ca.startsWith('-----BEGIN ') ? ca : readRecordSync(ca))
  return {
    names: [isOn.name, url.name, secret.name],
    target(): PushTarget | undefined {
      if (isOn.get() !== 1 || urlTrouble(url.get(), reach.isLocal) !== undefined || url.get() === '') return undefined
      return { url: url.get(), login: secret.get(), ca: pem, reach, rate_bytes_s: rate_kbit_s * 125 }
    },
  }
}
