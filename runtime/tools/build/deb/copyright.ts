import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BundledPackage } from './bundled.js'

/** Beside what is built: the licences of everything that is bundled in it. */
export const licencesFile = 'LICENSES.txt'

/** Texts that Debian ships, so that the package contains only the rest. */
export const debianTexts = { 'Apache-2.0': '/usr/share/common-licenses/Apache-2.0' } as CommonTexts

type CommonTexts = Readonly<Record<string, string | undefined>>

/** Texts that go with parts of rtk-base itself. */
const ownTexts = [join('plugins', 'network', 'modem', 'apn', 'COPYING')]

/**
 * The licences of everything that is bundled.
 * @param root where rtk-base itself is part of it
 * @param common where the system has the text of a licence
 */
export function licenceText(
  packages: readonly BundledPackage[],
  { root, common = {} }: { root?: string; common?: CommonTexts } = {},
): string {
  const sections = [
    ...(root === undefined ? [] : ownSections(root)),
    ...packages.map(({ name, version, licence, homepage, texts }) => {
      const text = textOf(texts, common[licence])
      return `${name} ${version}\n${homepage}\nLicence: ${licence}\n\n${text}`
    }),
  ]
  return `${sections.join(`\n\n${'-'.repeat(79)}\n\n`)}\n`
}

function ownSections(root: string): string[] {
  const read = (file: string) => readFileSync(file, 'utf8').trim()
  const own = ownTexts.map((path) => join(root, path)).filter((file) => existsSync(file))
  return [`rtk-base\n\n${read(join(root, 'LICENSE'))}`, ...own.map(read)]
}

function textOf(texts: readonly string[], place: string | undefined): string {
  const own = place ? texts.filter((text) => !text.includes('TERMS AND CONDITIONS FOR USE, REPRODUCTION')) : texts
  const lines = place ? [...own, `On Debian systems the text of the licence is in ${place}.`] : own
  return lines.length > 0 ? lines.join('\n\n') : 'The package has no licence file of its own.'
}
