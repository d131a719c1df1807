import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from '../manual-clock.js'
import { busFor, Peer } from './dbus.js'
import { noPeer } from './peers.js'

/** A reason to skip what needs a real NetworkManager in a namespace of its own. Only root may make one, with `CI=true` too. */
export function noNetworkManager(): string | false {
  if (process.getuid?.() !== 0) return 'only root may make network namespaces'
  return noPeer('NetworkManager') || noPeer('dbus-daemon') || noPeer('ip') || noPeer('nmcli') || noPeer('unshare')
}

/** How long NetworkManager waits for a carrier that was lost: the drop-in that the documentation recommends. */
const configuration = `[main]
plugins=keyfile
auth-polkit=false
dns=none
rc-manager=unmanaged
no-auto-default=*

[device]
match-device=interface-name:eth*
managed=1
carrier-wait-timeout=1000
`

/** In a mount namespace of its own: without a writable /sys NetworkManager does not wait for udev. */
const inside = `set -e
mount -t tmpfs none /run
mkdir -p /run/dbus /run/NetworkManager
mount -t tmpfs none /var/lib/NetworkManager
mount -t tmpfs none /etc/NetworkManager
mkdir -p /etc/NetworkManager/system-connections
mount --bind "$2" /etc/NetworkManager/system-connections
cp "$1" /etc/NetworkManager/NetworkManager.conf
mount -o remount,ro /sys
exec NetworkManager --no-daemon
`

export interface NetworkNamespace {
  /** D-Bus address of its NetworkManager. */
  readonly bus: string
  readonly folder: string
  /** Runs a program in the machine, e.g. `['ip', 'route']`, and returns what it printed. */
  box(...command: string[]): string
  /** The same at the other end of the cables. */
  lan(...command: string[]): string
  /** The first words of a command that runs there. */
  readonly boxPrefix: readonly string[]
  readonly lanPrefix: readonly string[]
  nmcli(...args: string[]): string
  /** The cable of `eth0` or `eth1`. */
  cable(index: 0 | 1, isPlugged: boolean): void
  readonly manager: Peer
}

/** Where a service listens that is reached through every cable. */
export const beyond = '10.99.0.1'

/**
 * A machine with two Ethernet ports and a real NetworkManager: `eth0` and `eth1` are 10.77.0.2 and 10.77.1.2, their gateways
 * 10.77.0.1 and 10.77.1.1 lead to `beyond`.
 */
export async function networkNamespaceFor(t: Test): Promise<NetworkNamespace> {
  const { address, folder } = await busFor(t)
  const id = `${process.pid % 100_000}`
  const [box, lan] = [`rtk-box-${id}`, `rtk-lan-${id}`]
  const run = (...[program = '', ...args]: string[]) => execFileSync(program, args, { encoding: 'utf8' })
  const inNamespace = (name: string) => ['ip', 'netns', 'exec', name]
  t.teardown(() => {
    for (const name of [box, lan]) spawnSync('ip', ['netns', 'del', name])
  })
  for (const name of [box, lan]) {
    run('ip', 'netns', 'add', name)
    run('ip', '-n', name, 'link', 'set', 'lo', 'up')
  }
  run('ip', '-n', lan, 'addr', 'add', `${beyond}/32`, 'dev', 'lo')
  for (const index of [0, 1]) {
    const [here, there] = [`rb${index}${id}`, `rl${index}${id}`]
    run('ip', 'link', 'add', here, 'type', 'veth', 'peer', 'name', there)
    run('ip', 'link', 'set', here, 'netns', box, 'name', `eth${index}`)
    run('ip', 'link', 'set', there, 'netns', lan, 'name', `lan${index}`)
    run('ip', '-n', lan, 'addr', 'add', `10.77.${index}.1/24`, 'dev', `lan${index}`)
    run('ip', '-n', lan, 'link', 'set', `lan${index}`, 'up')
  }
  const [config, script] = [join(folder, 'NetworkManager.conf'), join(folder, 'inside.sh')]
  // What it stores is kept over its restart.
  const stored = join(folder, 'connections')
  mkdirSync(stored, { mode: 0o700 })
  writeFileSync(config, configuration)
  writeFileSync(script, inside)
  const env = { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: address }
  const [ip = '', ...prefix] = inNamespace(box)
  const manager = new Peer(t, () =>
    spawn(ip, [...prefix, 'unshare', '-m', '--propagation', 'private', 'bash', script, config, stored], {
      env,
      stdio: 'ignore',
    }),
  )
  const nmcli = (...args: string[]) => execFileSync('nmcli', args, { encoding: 'utf8', env, stdio: 'pipe' })
  const isUp = () => spawnSync('nmcli', ['-t', 'device'], { env, encoding: 'utf8' }).stdout.includes('eth1:ethernet')
  await until(isUp, 'NetworkManager manages its ports', 60_000)
  for (const index of [0, 1]) {
    const port = ['con-name', `wired${index}`, 'ifname', `eth${index}`, 'ipv6.method', 'ignore']
    const ip4 = ['ipv4.method', 'manual', 'ipv4.addresses', `10.77.${index}.2/24`, 'ipv4.gateway', `10.77.${index}.1`]
    nmcli('connection', 'add', 'type', 'ethernet', ...port, ...ip4, 'ipv4.route-metric', `${100 + index}`)
  }
  return {
    bus: address,
    folder,
    boxPrefix: inNamespace(box),
    lanPrefix: inNamespace(lan),
    box: (...command) => run(...inNamespace(box), ...command),
    lan: (...command) => run(...inNamespace(lan), ...command),
    nmcli,
    cable: (index, isPlugged) => void run('ip', '-n', lan, 'link', 'set', `lan${index}`, isPlugged ? 'up' : 'down'),
    manager,
  }
}
