/** The command `log=d`, `log=PLUGIN:d`. */
import { badValue, type PluginContext } from 'rtk-base/plugin'
import { type LogLevel, logs, station } from 'rtk-base/services'

const levels: Readonly<Record<string, LogLevel>> = {
  n: 'silent',
  '0': 'silent',
  e: 'error',
  w: 'warn',
  i: 'info',
  '1': 'info',
  d: 'debug',
  v: 'trace',
}

/** `d`, `PLUGIN:d` */
export const levelForm = /^(?:([a-z0-9-]+):)?([n0ewi1dv])$/

/** @throws bad value */
export function setLevel(ctx: PluginContext, text: string): string {
  const [, plugin, letter = ''] = levelForm.exec(text) ?? []
  const level = levels[letter] as LogLevel
  const known = ctx.services.use(station).plugins()
  if (plugin !== undefined && !known.some(({ name }) => name === plugin))
    throw badValue(`there is no plugin ${plugin} here`)
  ctx.services.use(logs).setLevel(level, plugin)
  return `log level ${level}${plugin ? ` of ${plugin}` : ''}, until the service restarts`
}
