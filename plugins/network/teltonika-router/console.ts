import { type ActionCall, badValue, type PluginContext, unavailable } from 'rtk-base/plugin'
import { station } from 'rtk-base/services'
import { Type } from 'typebox'
import { shortReport } from './report.js'
import type { Router } from './router.js'

const words = ['info', 'set_user', 'set_pswd', 'scan', 'select', 'reboot', 'reboot-modem'] as const
type Word = (typeof words)[number]

const usage =
  'info | set_user USER [--protected] | set_pswd PASSWORD [--protected] | scan | select PLMN (0: automatic) | reboot | reboot-modem'
const help = `teltonika=SUBCOMMAND controls the router: ${usage}; --protected: stored in the protected store`

/** The console group of the router. Modem functions use the commands and parameters of the modem plugin. */
export function addConsoleGroup(ctx: PluginContext, router: Router): void {
  const groups: Readonly<
    Record<Word, (args: readonly string[], call: Pick<ActionCall, 'source'>) => string | Promise<string>>
  > = {
    info: () => shortReport(router),
    set_user: (args) => setCredential('user', args),
    set_pswd: (args) => setCredential('pswd', args),
    scan: (_args, call) => command('mobile-scan', call),
    select: ([plmn = '']) => select(plmn),
    reboot: (_args, call) => command('reboot-router', call),
    'reboot-modem': (_args, call) => command('reboot-modem', call),
  }
  ctx.action({
    name: 'teltonika',
    summary: help,
    // Some of its lines have a password.
    input: { line: Type.String({ writeOnly: true, examples: words }) },
    usage: `teltonika ${usage}`,
    run: (call) => {
      const [word = '', ...args] = call.input.line.trim().split(/\s+/)
      const known = words.find((one) => one === word)
      if (known === undefined) throw badValue(`teltonika ${usage}`)
      return groups[known](args, call)
    },
  })

  async function command(name: string, { source }: Pick<ActionCall, 'source'>): Promise<string> {
    const { status, text } = await ctx.services.use(station).command(name, { source })
    if (status !== 200) throw unavailable(text.trimEnd())
    return text
  }

  async function change(values: Record<string, unknown>, home: string): Promise<void> {
    const { result, leftover, errors } = await ctx.services.use(station).change(values, { source: 'plugin' })
    if (result !== 'ok')
      throw badValue(errors?.map(({ name, message }) => `${name} ${message}`).join('; ') ?? 'refused')
    const [unknown] = Object.keys(leftover)
    if (unknown) throw unavailable(`${unknown} belongs to plugin ${home}, which this station does not run`)
  }

  async function select(plmn: string): Promise<string> {
    if (!/^(0|\d{5,6})$/.test(plmn))
      throw badValue(`select takes a PLMN of 5 or 6 digits, or 0, not '${plmn.slice(0, 20)}'`)
    await change({ 'mobile-operator': Number(plmn) }, 'modem')
    return plmn === '0'
      ? 'mobile-operator is 0: the modem selects automatically'
      : `mobile-operator is ${plmn}: it is selected on the modem when that is free; modem.cfg.plmn shows it then`
  }

  async function setCredential(field: 'user' | 'pswd', args: readonly string[]): Promise<string> {
    const isProtected = args.includes('--protected')
    const value = args.filter((one) => one !== '--protected').join(' ')
    if (field === 'user' && !/^\S{1,64}$/.test(value)) throw badValue('set_user takes one name of 1 to 64 characters')
    if (value === '' || value.length > 128) throw badValue('set_pswd takes a password of 1 to 128 characters')
    if (isProtected) {
      const { user, pswd } = router.logins.default
      await router.protect({ user: user || 'admin', pswd, [field]: value })
      return `the ${field === 'user' ? 'user' : 'password'} is in the protected store`
    }
    await change({ [`rtr-${field}`]: value }, 'teltonika-router')
    return `rtr-${field} is set`
  }
}
