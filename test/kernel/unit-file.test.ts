/** The devices that the unit of the Debian package opens: those of serial ports and GNSS receivers, and nothing else. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import leds from '../../plugins/device/leds/index.js'
import { filesBelow, packageRoot } from '../../runtime/platform/release.js'

const root = packageRoot()
const unit = readFileSync(join(root, 'runtime', 'tools', 'build', 'deb', 'files', 'rtk-base.service'), 'utf8')
const valuesOf = (setting: string) =>
  [...unit.matchAll(new RegExp(`^${setting}=(.*)$`, 'gm'))].map(([, value]) => value)

/**
 * Serial ports of Linux by their names in /dev, as Documentation/admin-guide/devices.txt and the drivers below drivers/tty/serial
 * have them: the number, where the kernel gives a fixed one, and the names that /proc/devices may show for the driver.
 */
const ports: Readonly<Record<string, { number?: number; drivers: string[] }>> = {
  ttyACM: { number: 166, drivers: [] },
  ttyUSB: { number: 188, drivers: [] },
  ttyAMA: { number: 204, drivers: [] },
  ttyS: { number: 4, drivers: [] },
  ttymxc: { drivers: ['ttymxc', 'IMX-uart'] },
  ttyLP: { drivers: ['ttyLP'] },
  ttySC: { drivers: ['ttySC', 'sc16is7xx'] },
  ttyTHS: { drivers: ['ttyTHS'] },
  ttyPS: { drivers: ['ttyPS', 'xuartps'] },
  ttySTM: { drivers: ['ttySTM'] },
  ttyAML: { drivers: ['ttyAML'] },
  ttyMSM: { drivers: ['ttyMSM'] },
  ttyO: { drivers: ['ttyO'] },
  gnss: { drivers: ['gnss'] },
}

t.test('serial ports and GNSS receivers may be opened, and no other device', (t) => {
  t.strictSame(valuesOf('DevicePolicy'), ['closed'])
  const wanted = Object.values(ports).flatMap(({ number, drivers }) => [number ?? [], drivers].flat())
  t.strictSame(new Set(valuesOf('DeviceAllow')), new Set(wanted.map((one) => `char-${one} rw`)))
  t.match(valuesOf('SupplementaryGroups'), ['dialout'], 'to which Debian gives them')
  t.end()
})

t.test('plugins open nothing in /dev but serial ports, and what one needs beyond the unit it says itself', (t) => {
  const sources = [...filesBelow(join(root, 'plugins'))].filter(
    (file) => /\.tsx?$/.test(file) && !/\/simulated-[^/]+\//.test(file),
  )
  t.ok(sources.length > 300, `${sources.length} sources`)
  const named = (folder: string) =>
    sources.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(new RegExp(`['"\`]${folder}/[^'"\`$ ]*`, 'g'))].map(([path = '']) =>
        path.slice(1),
      ),
    )
  t.strictSame(
    named('/dev').filter((path) => !/^\/dev\/(serial\/by-id|ttyACM\d)/.test(path)),
    [],
  )
  // ProtectKernelTunables makes /sys read-only.
  t.strictSame(valuesOf('ProtectKernelTunables'), ['yes'])
  t.strictSame([...new Set(named('/sys'))], ['/sys/class/leds'])
  t.strictSame(leds.system?.unit, ['ProtectKernelTunables=no'])
  t.end()
})
