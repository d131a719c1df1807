import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from '../manual-clock.js'
import { createAuthority } from './certificates.js'
import { busFor, Peer } from './dbus.js'
import { noPeer } from './peers.js'

/** A reason to skip what needs RAUC's service. */
export function noRauc(): string | false {
  if (process.getuid?.() !== 0) return 'only root may mount what is in a bundle'
  return noPeer('rauc') || noPeer('mksquashfs') || noPeer('dbus-daemon') || noPeer('openssl')
}

/** A boot loader of two slots; what it is told stands in files. */
const bootLoader = `#!/bin/sh
cd "$(dirname "$0")/boot" || exit 1
case $1 in
get-primary) cat primary ;;
set-primary) echo "$2" >primary; echo good >"state.$2" ;;
get-state) cat "state.$2" ;;
set-state) echo "$3" >"state.$2" ;;
*) exit 1 ;;
esac
`
const compatible = 'rtk-base-test'

export interface RaucSystem {
  /** Of its bus. */
  readonly address: string
  /** Of the slot A or B. */
  content(slot: 'A' | 'B'): string
  /** What the boot loader was told: slot that is started next, and the state of both. */
  boot(): string
  /** A signed bundle. */
  bundle(version: string, content: string, options?: { compatible?: string }): Buffer
  service: Peer
  /** The machine restarts: the boot loader starts this slot. */
  restart(slot: 'A' | 'B'): Promise<void>
}

/** RAUC's own service on a private bus, with files as slots. */
export async function raucFor(t: Test): Promise<RaucSystem> {
  const { address } = await busFor(t)
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-rauc-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const at = (...path: string[]) => join(folder, ...path)
  const { cert, key } = createAuthority(at('keys')).issue(
    'maker',
    '/CN=maker',
    'extendedKeyUsage=codeSigning,emailProtection\n',
  )
  for (const name of ['boot', 'mount', 'bundles']) mkdirSync(at(name))
  for (const slot of ['A', 'B']) {
    writeFileSync(at(`slot${slot}`), Buffer.alloc(65_536, 'old '))
    writeFileSync(at('boot', `state.${slot}`), 'good\n')
  }
  writeFileSync(at('boot', 'primary'), 'A\n')
  writeFileSync(at('boot.sh'), bootLoader)
  chmodSync(at('boot.sh'), 0o755)
  const slots = (['A', 'B'] as const).map(
    (slot, i) => `[slot.rootfs.${i}]\ndevice=${at(`slot${slot}`)}\ntype=raw\nbootname=${slot}\n`,
  )
  writeFileSync(
    at('system.conf'),
    `[system]\ncompatible=${compatible}\nbootloader=custom\nstatusfile=${at('status')}\nmountprefix=${at('mount')}\n` +
      `[handlers]\nbootloader-custom-backend=${at('boot.sh')}\n` +
      `[keyring]\npath=${at('keys', 'ca.pem')}\ncheck-purpose=codesign\n${slots.join('')}`,
  )
  let booted = 'A'
  const env = { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: address }
  const args = [`--conf=${at('system.conf')}`, `--mount=${at('mount')}`]
  const service = new Peer(t, () =>
    spawn('rauc', [...args, `--override-boot-slot=${booted}`, 'service'], { env, stdio: 'ignore' }),
  )
  const owner = ['--dest=org.freedesktop.DBus', '/', 'org.freedesktop.DBus.NameHasOwner', 'string:de.pengutronix.rauc']
  const asked = () => spawnSync('dbus-send', ['--system', '--print-reply', ...owner], { env, encoding: 'utf8' }).stdout
  const up = () => until(() => asked().includes('boolean true'), 'RAUC is up')
  await up()
  const read = (...path: string[]) => readFileSync(at(...path), 'utf8')
  let bundles = 0
  return {
    address,
    service,
    content: (slot) => read(`slot${slot}`),
    boot: () => ['primary', 'state.A', 'state.B'].map((name) => read('boot', name).trim()).join(' '),
    bundle(version, content, { compatible: made = compatible } = {}) {
      const name = `${++bundles}`
      mkdirSync(at('bundles', name))
      writeFileSync(at('bundles', name, 'rootfs.img'), Buffer.alloc(65_536, content))
      const manifest = `[update]\ncompatible=${made}\nversion=${version}\n[image.rootfs]\nfilename=rootfs.img\n`
      writeFileSync(at('bundles', name, 'manifest.raucm'), manifest)
      const file = at('bundles', `${name}.raucb`)
      execFileSync('rauc', [`--cert=${cert}`, `--key=${key}`, 'bundle', at('bundles', name), file], { stdio: 'ignore' })
      return readFileSync(file)
    },
    async restart(slot) {
      await service.stop()
      booted = slot
      service.start()
      await up()
    },
  }
}
