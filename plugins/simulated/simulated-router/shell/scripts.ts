/**
 * The two shell scripts that the plugin teltonika-router sends, recognised by their text: the simulated router has no shell.
 * A changed script needs a change here.
 */
import type { Device } from '../device/device.js'
import { verifyImage } from '../device/identity.js'
import { download } from './download.js'
import { gsmctl } from './gsmctl.js'
import { type Result, result } from './result.js'

const scan =
  /^rm -f (?<file>\S+); \(gsmctl -A '(?<command>[^']+)' > \k<file> 2>&1; echo '(?<done>[^']+)' >> \k<file>\) > \/dev\/null 2>&1 &$/

const firmware = new RegExp(
  [
    '^rm -f (?<file>\\S+)',
    'wget -q -O \\k<file> "\\$1" \\|\\| curl -fsSL -o \\k<file> "\\$1" \\|\\| { echo "(?<failed>[^"]+)" >&2; exit 2; }',
    'sysupgrade -T \\k<file> \\|\\| { rm -f \\k<file>; echo "(?<unfit>[^"]+)" >&2; exit 3; }',
    '\\(sleep 3; sysupgrade \\k<file>\\) >/dev/null 2>&1 &$',
  ].join('\\n'),
)
const flashDelay_ms = 3_000

/** `sh -c SCRIPT sh [URL]` */
export function runScript(device: Device, [flag, text = '', , url = '']: readonly string[]): Result | Promise<Result> {
  const scanning = scan.exec(text)?.groups
  const installing = firmware.exec(text)?.groups
  if (flag === '-c' && scanning) return scanInBackground(device, scanning)
  if (flag === '-c' && installing) return installFirmware(device, installing, url)
  return result(2, '', `sh: not simulated: ${text}\n`)
}

type Groups = Record<string, string | undefined>

/** The answer of the modem is in the file when the modem has given it. */
function scanInBackground(device: Device, { file = '', command = '', done = '' }: Groups): Result {
  device.files.remove(file)
  void Promise.resolve(gsmctl(device, ['-A', command])).then(({ stdout, stderr }) =>
    device.files.write(file, Buffer.from(`${stdout}${stderr}${done}\n`)),
  )
  return result(0)
}

async function installFirmware(device: Device, script: Groups, url: string): Promise<Result> {
  const { file = '', failed = '', unfit = '' } = script
  device.files.remove(file)
  const fetched = await download(device.network, url)
  const problem = 'error' in fetched ? fetched.error : device.files.write(file, fetched.body)
  if ('error' in fetched || problem !== undefined) return result(2, '', `wget: ${problem}\n${failed}\n`)
  const verified = verifyImage(fetched.body, device.firmware)
  if ('error' in verified) {
    device.files.remove(file)
    return result(3, `${verified.error}\nImage check failed.\n`, `${unfit}\n`)
  }
  device.delays.after(flashDelay_ms, () => device.upgrade(verified.version, true))
  return result(0)
}
