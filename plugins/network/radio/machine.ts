import { constants } from 'node:fs'
import { disk, type FileHandle } from 'rtk-base/files'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import { type RadioMachine, simulatedRadio } from 'rtk-base/services'

const most_bytes = 262_144
const missing = 'backend=simulator needs the plugin simulated-machine, which this variant does not have'

/** The programs and files of this machine. */
export function realMachine(ctx: Pick<PluginContext, 'process'>): RadioMachine {
  return {
    // The texts that are read are those of the C locale.
    execFile: (file, args, options) => ctx.process.execFile(file, args, { ...options, env: { LC_ALL: 'C' } }),
    readFile: readStart,
    writeFile: (path, text) => disk.writeFile(path, text, { mode: 0o644 }),
    removeFile: (path) => disk.rm(path, { force: true }),
  }
}

async function readStart(path: string): Promise<string | undefined> {
  let file: FileHandle | undefined
  try {
    // A FIFO does not wait for its writer then.
    file = await disk.open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const { bytesRead, buffer } = await file.read(Buffer.alloc(most_bytes), 0, most_bytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  } finally {
    await file?.close()
  }
}

/** Programs and files of the plugin simulated-machine. Rejects with RTK_ERR_UNAVAILABLE while it is not there. */
export function simulatedMachine({ services }: Pick<PluginContext, 'services'>): RadioMachine {
  const there = () => {
    const simulated = services.find(simulatedRadio)
    if (simulated) return simulated.machine
    throw unavailable(missing)
  }
  return {
    execFile: async (...call) => there().execFile(...call),
    readFile: async (path) => there().readFile(path),
    writeFile: async (path, text) => there().writeFile(path, text),
    removeFile: async (path) => there().removeFile(path),
  }
}

/** Reports a missing simulated machine. */
export function watchSimulated({ errors, services, status }: PluginContext): void {
  services.watch(simulatedRadio, (service) => {
    const entry = errors.while('radio-simulator', !service)
    if (entry) status(entry.why)
  })
}
