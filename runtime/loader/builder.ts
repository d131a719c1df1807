/** esbuild, if it is installed: loaded at its first use, and its process is ended when nothing is left to build. */
import { clearTimeout, setTimeout } from 'node:timers'
import { RtkError } from '../errors.js'

type Esbuild = typeof import('esbuild')

const idle_ms = 1_000

let loaded: Esbuild | undefined
/** Builds that are under way. */
let builds = 0
let ending: NodeJS.Timeout | undefined

/**
 * Runs a build.
 * @param what needs it, for the message
 * @throws RTK_ERR_PLUGIN_BUILD where esbuild is not installed
 */
export async function withEsbuild<T>(what: string, build: (esbuild: Esbuild) => Promise<T>): Promise<T> {
  builds += 1
  try {
    return await build(await load(what))
  } finally {
    builds -= 1
  }
}

async function load(what: string): Promise<Esbuild> {
  try {
    loaded ??= await import('esbuild')
    return loaded
  } catch {
    const text = `${what} is source, and esbuild is not installed here: install esbuild, or make the prebuilt form with "rtk-base build-plugin"`
    throw new RtkError('RTK_ERR_PLUGIN_BUILD', text)
  }
}

/** Ends the process that esbuild keeps (16 MB) when nothing was built for a while; the next build starts it again. */
export function endBuilderSoon(): void {
  clearTimeout(ending)
  ending = setTimeout(() => {
    if (builds > 0) endBuilderSoon()
    else void loaded?.stop()
  }, idle_ms).unref()
}
