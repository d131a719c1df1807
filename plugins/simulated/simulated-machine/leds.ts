import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Files as the kernel makes them for LEDs of this kind; written values can be read back. */
const files: Readonly<Record<string, string>> = {
  trigger: 'none timer [pattern]\n',
  max_brightness: '255\n',
  brightness: '0\n',
  pattern: '',
  repeat: '-1\n',
}
const simulated: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'simulated:red:fault': files,
  'simulated:green:status': files,
  'simulated:rgb:link': { ...files, multi_index: 'red green blue\n', multi_intensity: '0 0 0\n' },
}

/** Three LEDs in a folder. Resolves with the folder. */
export async function makeLeds(folder: string): Promise<string> {
  for (const [name, contents] of Object.entries(simulated)) {
    // Something else may lie there by now, such as a FIFO, which would block its writer.
    await rm(join(folder, name), { recursive: true, force: true })
    await mkdir(join(folder, name), { recursive: true })
    for (const [file, text] of Object.entries(contents)) await writeFile(join(folder, name, file), text)
  }
  return folder
}
