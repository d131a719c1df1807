/** Every page that is generated, with the text that it should have now. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../runtime/build/release.js'
import { apiPages } from './api.js'
import { documentPage } from './document.js'
import { withHelp } from './help.js'
import { everyOffer } from './station.js'
import { commandsPage, errorsPage, parametersPage, routesPage, topicsPage } from './tables.js'

const docs = join('runtime', 'docs')

/** Path relative to the project → text. */
export async function generatedPages(): Promise<Map<string, string>> {
  const offer = await everyOffer()
  const cli = join(docs, 'cli.md')
  return new Map([
    ...[...apiPages()].map(([name, text]): [string, string] => [join(docs, 'api', name), text]),
    [join(docs, 'reference', 'parameters.md'), parametersPage(offer)],
    [join(docs, 'reference', 'commands.md'), commandsPage(offer)],
    [join(docs, 'reference', 'routes.md'), routesPage(offer)],
    [join(docs, 'reference', 'topics.md'), topicsPage()],
    [join(docs, 'reference', 'errors.md'), errorsPage()],
    [join(docs, 'reference', 'document.md'), documentPage()],
    [cli, await withHelp(readFileSync(join(packageRoot(), cli), 'utf8'))],
  ])
}
