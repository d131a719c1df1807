import { existsSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Runtime } from '../../../index.js'
import { packageRoot } from '../../../platform/release.js'
import type { VariantFile } from '../variant-file.js'

/** Where to look, for the person who started it: the runtime's own lines and those of the plugins. */
export function banner(runtime: Runtime, { file, data }: { file: VariantFile; data: string }): string {
  const { station, device, address } = runtime
  const any = address.host === '0.0.0.0' || address.host === '::'
  const host = any ? 'localhost' : address.host.includes(':') ? `[${address.host}]` : address.host
  const http = `http://${host}:${address.port}`
  const place = ({ 1: text }: [string, string]) => (text.includes('{http}') ? 0 : text.includes('\n') ? 2 : 1)
  const rows = [
    ...runtime.banner(process.stdout.isTTY),
    ['console', `${ownCommand()} console --data ${data}`] satisfies [string, string],
    ['settings', data] satisfies [string, string],
  ]
    .sort((one, other) => place(one) - place(other))
    .map(([label, text]) => [label, text.replaceAll('{http}', http)])
  const width = Math.max(...rows.map(([label = '']) => label.length)) + 3
  const lines = [
    `rtk-base ${device.version}   variant ${file.variant.name}   serial number ${station.serial}`,
    '',
    ...rows.map(
      ([label = '', text = '']) => `  ${label.padEnd(width)}${text.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`,
    ),
    '',
  ]
  const broken = station.plugins().filter(({ state }) => state !== 'running')
  for (const { name, state, reason } of broken) lines.push(`  ${name} is ${state}: ${reason}`)
  if (broken.length > 0) lines.push('')
  return `${lines.join('\n')}\n`
}

/** The command that starts this program here: npm in a checkout, npx for an installed package, else its file. */
function ownCommand(): string {
  const [, file = ''] = process.argv
  if (existsSync(join(packageRoot(), 'tsconfig.json'))) return 'npm run -s rtk-base --'
  return file.split(sep).includes('node_modules') ? 'npx rtk-base' : `node ${file}`
}
