import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BundledPackage } from './bundled.js'

/** Texts that go with parts of rtk-base itself. */
const ownTexts = [join('plugins', 'modem', 'apn', 'COPYING')]

/** The copyright file of the package: the licence of rtk-base, then of everything that is bundled. */
export function copyrightText(root: string, packages: readonly BundledPackage[]): string {
  const own = ownTexts.map((path) => join(root, path)).filter((file) => existsSync(file))
  const read = (file: string) => readFileSync(file, 'utf8').trim()
  const sections = [
    `rtk-base\n\n${read(join(root, 'LICENSE'))}`,
    ...own.map(read),
    ...packages.map(({ name, version, licence, homepage, texts }) => {
      const text = texts.length > 0 ? texts.join('\n\n') : 'The package has no licence file of its own.'
      return `${name} ${version}\n${homepage}\nLicence: ${licence}\n\n${text}`
    }),
  ]
  return `${sections.join(`\n\n${'-'.repeat(79)}\n\n`)}\n`
}
