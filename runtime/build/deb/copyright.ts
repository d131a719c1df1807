import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BundledPackage } from './bundled.js'

/** Debian has the text, the package only what goes beyond it. */
const common = { 'Apache-2.0': '/usr/share/common-licenses/Apache-2.0' } as Readonly<Record<string, string | undefined>>

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
      const text = textOf(licence, texts)
      return `${name} ${version}\n${homepage}\nLicence: ${licence}\n\n${text}`
    }),
  ]
  return `${sections.join(`\n\n${'-'.repeat(79)}\n\n`)}\n`
}

function textOf(licence: string, texts: readonly string[]): string {
  const place = common[licence]
  const own = place ? texts.filter((text) => !text.includes('TERMS AND CONDITIONS FOR USE, REPRODUCTION')) : texts
  const lines = place ? [...own, `On Debian systems the text of the licence is in ${place}.`] : own
  return lines.length > 0 ? lines.join('\n\n') : 'The package has no licence file of its own.'
}
