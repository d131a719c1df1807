import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { RtkError } from '../../errors.js'
import { forgetLogin } from '../../gateway/login/kept-login.js'
import { createLogger } from '../../platform/log/log.js'
import { openStore } from '../../platform/store/store.js'
import { ControlClient } from '../control/client.js'
import { parseArgs } from './parse-args.js'

export const passwordHelp = `rtk-base password --reset [--data DIR]

Removes both passwords of the web page (operator and viewer), in case they are lost. Tokens in the variant stay. The service
need not be running. Afterwards, set new passwords on the web page.

  --reset    removes both passwords
  --data     data folder (default: ./data)
`

export async function passwordCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { data: { type: 'string', default: 'data' }, reset: { type: 'boolean', default: false } },
  })
  if (!values.reset)
    throw new RtkError('RTK_ERR_USAGE', 'say --reset: passwords are set on the page, or by POST /password')
  const data = resolve(values.data)
  if (!existsSync(join(data, 'store')))
    throw new RtkError('RTK_ERR_USAGE', `${data}: no such data folder; name it with --data`)
  const had = (await resetByService(data)) ?? (await resetInFiles(data))
  process.stdout.write(had ? 'the passwords are removed\n' : 'no password was set\n')
  return 0
}

/** Undefined: no service answers, so nothing else has the store. */
async function resetByService(data: string): Promise<boolean | undefined> {
  const client = await ControlClient.open(data).catch(() => undefined)
  if (!client) return undefined
  try {
    return await client.call<boolean>('reset-passwords')
  } finally {
    client.close()
  }
}

async function resetInFiles(data: string): Promise<boolean> {
  const store = await openStore(join(data, 'store'), createLogger({ level: 'silent' }))
  try {
    return await forgetLogin(store)
  } finally {
    await store.close()
  }
}
