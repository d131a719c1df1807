import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../manual-clock.js'

/** A pair of pseudo-terminals: what is written to `far` is what the station reads from `near`. */
export interface Pty {
  readonly near: string
  readonly far: string
  /** Removes both ends, like an unplugged adapter. */
  pull(): Promise<void>
  /** Restores both ends under the same names. */
  giveBack(): Promise<void>
  close(): Promise<void>
}

/** Opens a pair of pseudo-terminals. Needs the program socat. */
export async function openPty(): Promise<Pty> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-pty-'))
  const [near, far] = [join(folder, 'near'), join(folder, 'far')]
  const plug = async () => {
    const socat = spawn('socat', [`pty,raw,echo=0,link=${near}`, `pty,raw,echo=0,link=${far}`], { stdio: 'ignore' })
    await until(() => existsSync(near) && existsSync(far), 'the pty pair')
    return socat
  }
  let socat = await plug()
  const pull = async () => {
    if (socat.exitCode !== null || socat.signalCode !== null) return
    socat.kill('SIGKILL')
    await once(socat, 'close')
    rmSync(near, { force: true })
    rmSync(far, { force: true })
  }
  return {
    near,
    far,
    pull,
    async giveBack() {
      socat = await plug()
    },
    async close() {
      await pull()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
