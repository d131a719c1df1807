/** Every page that is generated, with the text that it should have now. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rtkBaseAll } from 'rtk-base/testing'
import { packageRoot } from '../../runtime/platform/release.js'
import { apiDigest, apiPages } from './api.js'
import { contractFiles } from './contract.js'
import { documentPage } from './document.js'
import { everyOffer } from './station.js'
import { commandsPage, errorsPage, parametersPage, routesPage, topicsPage } from './tables.js'

const docs = join('runtime', 'docs')

/** Those that are made for the package, and are not in git: path relative to the project → text. */
export async function packedFiles(): Promise<Map<string, string>> {
  const pages = [...apiPages()].map(([name, text]): [string, string] => [join(docs, 'api', name), text])
  return new Map([...pages, ...Object.entries(await contractFiles())])
}

/** Those that are kept in git: path relative to the project → text. */
export async function generatedPages(): Promise<Map<string, string>> {
  const offer = await everyOffer()
  const cli = join(docs, 'cli.md')
  return new Map([
    [join(docs, 'api.txt'), apiDigest()],
    [join(docs, 'reference', 'parameters.md'), parametersPage(offer)],
    [join(docs, 'reference', 'commands.md'), commandsPage(offer)],
    [join(docs, 'reference', 'routes.md'), routesPage(offer)],
    [join(docs, 'reference', 'topics.md'), topicsPage()],
    [join(docs, 'reference', 'errors.md'), errorsPage()],
    [join(docs, 'reference', 'document.md'), documentPage()],
    [cli, await withHelp(readFileSync(join(packageRoot(), cli), 'utf8'))],
  ])
}

const block = /^```console\n\$ rtk-base (.*--help)\n[\s\S]*?^```$/gm

/** The page of the command line with the help texts of now: each follows the command that prints it. */
async function withHelp(page: string): Promise<string> {
  const commands = [...page.matchAll(block)].map(([, args = '']) => args)
  const answers = await rtkBaseAll(commands.map((args) => args.split(' ')))
  const texts = new Map(commands.map((args, n) => [args, answers[n]?.stdout ?? '']))
  return page.replaceAll(block, (_, args: string) => `\`\`\`console\n$ rtk-base ${args}\n${texts.get(args)}\`\`\``)
}
