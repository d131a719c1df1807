/** Opens serial ports exclusively, and explains why one cannot be opened. */
import { spawn } from 'node:child_process'
import { userInfo } from 'node:os'

/** asm-generic/ioctls.h: as on x86, ARM and RISC-V. */
const TIOCEXCL = 0x540c
const limit_ms = 2_000

/**
 * Puts an open terminal in exclusive mode: the system refuses it to every other program, but to root. A lock (flock) is advisory, and gpsd
 * or ModemManager that opens the port takes bytes away unseen. Node has no ioctl, so a child that inherits the descriptor makes it.
 * @returns `no perl` if it is not installed, `refused` if the driver lacks this mode
 */
export function makeExclusive(fd: number): Promise<'exclusive' | 'refused' | 'no perl'> {
  return new Promise((resolve) => {
    // As descriptor 3: of 0 to 2 a child's are made blocking, which is the same open file, and the station's next read of it never ends.
    const script = `open(my $port, '+<&=', 3) or exit 1; exit(ioctl($port, ${TIOCEXCL}, 0) ? 0 : 1)`
    const child = spawn('perl', ['-e', script], { stdio: ['ignore', 'ignore', 'ignore', fd], timeout: limit_ms })
    child.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ENOENT' ? 'no perl' : 'refused'))
    child.once('close', (code) => resolve(code === 0 ? 'exclusive' : 'refused'))
  })
}

const who = '`sudo rtk-base report` names it'

/** Shown when frames are incomplete or missing: that the port could be opened does not prove that no other program reads from it. */
export const readByOthers = `another program may read this port (gpsd, ModemManager): ${who}`

const remedies: readonly [pattern: RegExp, remedy: (path: string) => string][] = [
  [
    /EACCES|permission denied/i,
    () =>
      `the user ${userInfo().username} may not open it: \`sudo usermod -aG dialout ${userInfo().username}\`, then restart the service`,
  ],
  [
    /EBUSY|resource busy|cannot lock|temporarily unavailable/i,
    () => `another program has it: end that program; ${who}`,
  ],
  [
    /EPERM|not permitted/i,
    (path) => `the unit does not let it be opened: \`sudo systemctl edit rtk-base\`, [Service] DeviceAllow=${path} rw`,
  ],
  [
    /ENOENT|no such file/i,
    () => 'nothing is plugged in there, or the option names another path: see /dev/serial/by-id',
  ],
]

/** The system's reason with a remedy. */
export function withRemedy(reason: string, path: string): string {
  const text = reason.replace(/^Error:? /, '')
  const found = remedies.find(([pattern]) => pattern.test(text))
  return found ? `${text}: ${found[1](path)}` : text
}
