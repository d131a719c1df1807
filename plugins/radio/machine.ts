import { open, rm, writeFile } from 'node:fs/promises'
import type { PluginContext } from 'rtk-base/plugin'
import type { RadioMachine } from 'rtk-base/services'

const most_bytes = 262_144

/** The programs and files of this machine. */
export function realMachine(ctx: Pick<PluginContext, 'process'>): RadioMachine {
  return {
    // The texts that are read are those of the C locale.
    execFile: (file, args, options) => ctx.process.execFile(file, args, { ...options, env: { LC_ALL: 'C' } }),
    readFile: readStart,
    writeFile: (path, text) => writeFile(path, text, { mode: 0o644 }),
    removeFile: (path) => rm(path, { force: true }),
  }
}

async function readStart(path: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>> | undefined
  try {
    file = await open(path)
    const { bytesRead, buffer } = await file.read(Buffer.alloc(most_bytes), 0, most_bytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  } finally {
    await file?.close()
  }
}
