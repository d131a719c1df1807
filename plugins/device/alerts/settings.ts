/** Where notices go, and when: the parameters of the plugin. */

import { readRecordSync } from 'rtk-base/files'
import { asciiHost, hostTrouble, OptionalHost, reachOf } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import { Type } from 'typebox'
import type { Channel } from './channels/channel.js'
import { Hook, HookChannel, hookTrouble } from './channels/hook.js'
import { MailChannel } from './channels/mail.js'
import { isZone, type QuietHours, quietHoursOf, quietPattern } from './rules/quiet-hours.js'

/** No spaces, quotes, brackets, commas or control characters: nothing that could end a header or add a recipient. */
const address = '[^\\s\\x00-\\x1f\\x7f<>()\\[\\]",;:\\\\@]+@[A-Za-z0-9.-]+'
const mailExample = 'an e-mail address, for example ada@example.org'
const hookExample = 'e.g. [{ "name": "ops", "url": "https://hooks.example.org/rtk", "secret": "…" }]; [] for none'

export interface AlertSettings {
  /** Names of the parameters. */
  readonly names: readonly string[]
  channels(): Channel[]
  /** Names of the channels that take a notice of this severity. */
  recipients(severity: 'warning' | 'critical'): string[]
  quiet(): QuietHours | undefined
  /** IANA name; `''`: that of the machine. */
  zone(): string
}

/** @param ca PEM, or the path of its file; empty: the public authorities alone */
export function alertSettings(ctx: PluginContext, ca: string, allowsPrivate: boolean): AlertSettings {
  const { config } = ctx
  const text = (maxLength: number, description: string) => Type.String({ maxLength, description })
  const host = config.define(
    'alerts-mail-host',
    {
      ...OptionalHost,
      description: 'SMTP server, a name or an address; empty: no e-mails',
    },
    { default: '', title: 'Alerts: mail server' },
  )
  const port = config.define('alerts-mail-port', Type.Integer({ minimum: 1, maximum: 65_535 }), {
    default: 587,
    title: 'Alerts: port of the mail server',
  })
  const tls = config.define(
    'alerts-mail-tls',
    Type.Union(
      [
        Type.Literal('starttls', { title: 'STARTTLS' }),
        Type.Literal('tls', { title: 'TLS' }),
        Type.Literal('none', { title: 'none' }),
      ],
      { description: 'STARTTLS: mostly port 587. TLS: mostly port 465. None: only for a server in the local network' },
    ),
    { default: 'starttls', title: 'Alerts: encryption of the mail server' },
  )
  const user = config.define('alerts-mail-user', text(254, 'Empty: without a login'), {
    default: '',
    title: 'Alerts: user at the mail server',
  })
  const password = config.define('alerts-mail-password', Type.String({ maxLength: 1_024 }), {
    default: '',
    secret: true,
    // Switched to `none`, it would go out in plain text.
    boundTo: [host.name, port.name, tls.name],
    title: 'Alerts: password at the mail server',
  })
  const mailbox = (pattern: string) => Type.String({ maxLength: 254, pattern, description: mailExample })
  const from = config.define('alerts-mail-from', mailbox(`^(${address})?$`), {
    default: '',
    title: 'Alerts: sender of the mails',
  })
  const to = config.define('alerts-mail-to', Type.Array(mailbox(`^${address}$`), { maxItems: 10 }), {
    default: [],
    title: 'Alerts: recipients of the mails',
  })
  const hooks = config.define('alerts-hooks', Type.Array(Hook, { maxItems: 8, description: hookExample }), {
    default: [],
    secret: true,
    title: 'Alerts: webhooks',
  })
  const quiet = config.define(
    'alerts-quiet',
    Type.String({ pattern: quietPattern, description: 'e.g. 22:00-06:30: warnings wait, critical alerts do not' }),
    { default: '', title: 'Alerts: quiet hours' },
  )
  const zone = config.define(
    'alerts-zone',
    text(64, 'IANA name of the time zone, e.g. Europe/Berlin; empty: that of the machine'),
    { default: '', title: 'Alerts: time zone' },
  )

  const reach = reachOf(ctx, allowsPrivate ? undefined : 'alerts.privateTargets')
  const refuses = (address: string) => hostTrouble(address, reach)
  // A mail server may stand beside the station.
  const anyReach = reachOf(ctx)
  const refusesMail = (address: string) => hostTrouble(address, anyReach)
  config.rule([host.name, from.name, to.name, tls.name], (get) => {
    const server = String(get(host.name))
    if (server === '') return undefined
    if (get(from.name) === '') return 'alerts-mail-host needs alerts-mail-from'
    if ((get(to.name) as string[]).length === 0) return 'alerts-mail-host needs alerts-mail-to'
    const trouble = refusesMail(asciiHost(server))
    if (trouble) return `alerts-mail-host ${trouble}`
    const isPlain = get(tls.name) === 'none'
    return isPlain && !reach.isLocal(server)
      ? 'alerts-mail-tls may only be none for a server in the local network'
      : undefined
  })
  config.rule([hooks.name], (get) => {
    const all = get(hooks.name) as Hook[]
    const names = all.map(({ name }) => name)
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    if (twice) return `names ${twice} twice`
    if (names.includes('mail')) return 'may not use the name mail: it is that of the e-mails'
    const troubled = all.find((hook) => hookTrouble(hook, reach))
    return troubled && `${troubled.name} ${hookTrouble(troubled, reach)}`
  })
  config.rule([zone.name], (get) =>
    isZone(String(get(zone.name))) ? undefined : 'is not a time zone that this machine knows, such as Europe/Berlin',
  )

  const pem = () => (ca === '' || ca.startsWith('-----BEGIN ') ? ca : readRecordSync(ca))
  const mail = () =>
    host.get() === '' ||
    from.get() === '' ||
    to.get().length === 0 ||
    (tls.get() === 'none' && !reach.isLocal(host.get()))
      ? []
      : [
          new MailChannel(
            ctx,
            {
              ...{ host: host.get(), port: port.get(), tls: tls.get(), user: user.get(), password: password.get() },
              ...{ from: from.get(), to: to.get(), refuses: refusesMail },
            },
            pem,
          ),
        ]
  // Checked again: a variant may give a value, and what is local may have changed.
  const usable = () => hooks.get().filter((hook) => hook.enabled !== false && !hookTrouble(hook, reach))
  return {
    names: [host, port, tls, user, password, from, to, hooks, quiet, zone].map(({ name }) => name),
    channels: () => [...mail(), ...usable().map((hook) => new HookChannel(ctx, hook, pem, refuses))],
    recipients: (severity) => [
      ...mail().map(({ name }) => name),
      ...usable().flatMap(({ name, least }) => (severity === 'warning' && least === 'critical' ? [] : [name])),
    ],
    quiet: () => quietHoursOf(quiet.get()),
    zone: () => (isZone(zone.get()) ? zone.get() : ''),
  }
}
