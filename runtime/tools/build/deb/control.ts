import type { Variant } from '../../../../schemas/variant.js'

/** As dpkg orders versions: a pre-release comes before its release. */
export const debVersion = (version: string): string => version.replace('-', '~')

/** The maintainer of the package, by Debian's variables. */
function maintainer({ DEBFULLNAME, DEBEMAIL }: NodeJS.ProcessEnv): string {
  const clean = (text: string) => text.replaceAll(/[\p{Cc}<>]/gu, '')
  return `${clean(DEBFULLNAME || 'The rtk-base authors')} <${clean(DEBEMAIL || 'rtk-base@packages.invalid')}>`
}

export interface ControlFacts {
  version: string
  architecture: string
  variant: Variant
  /** Packages with which it does more. */
  recommends: readonly string[]
  size_KiB: number
}

export function controlText(facts: ControlFacts, env = process.env): string {
  const { version, architecture, variant, recommends, size_KiB } = facts
  return `Package: rtk-base
Version: ${debVersion(version)}
Architecture: ${architecture}
Maintainer: ${maintainer(env)}
Installed-Size: ${size_KiB}
Depends: nodejs (>= 20.19), libc6 (>= 2.28), libgcc-s1 (>= 4.2), libstdc++6 (>= 9), systemd
Recommends: ${recommends.join(', ')}
Section: science
Priority: optional
Description: GNSS RTK base station service
 Reads a u-blox ZED-F9P, holds RTCM back until the reference position can be
 trusted, and hands it to rovers over UDP and MQTT. HTTP and MQTT offer the
 same readings, settings and commands.
 .
 Variant ${variant.name}, hardware ${variant.hardware}.
`
}

const longestNote = 76

/**
 * @param notes the news, one item a line; `''`: none
 */
export function changelogText(version: string, built: Date, notes: string, env = process.env): string {
  const date = built.toUTCString().replace('GMT', '+0000')
  const said = notes.split('\n').map((line) => line.replaceAll(/\p{Cc}/gu, ' ').replace(/^\s*[-*]?\s+|\s+$/g, ''))
  const points = [`Release ${version}.`, ...said.filter((line) => line !== '')].map(wrapped).join('\n')
  return `rtk-base (${debVersion(version)}) stable; urgency=medium\n\n${points}\n\n -- ${maintainer(env)}  ${date}\n`
}

/** A point of a list, its further lines below its text. */
function wrapped(point: string): string {
  const lines = ['']
  for (const word of point.split(/\s+/)) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + 1 + word.length > longestNote) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return `  * ${lines.join('\n    ')}`
}
