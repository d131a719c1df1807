/** A whole Debian system with its own systemd, in a container on a copy-on-write copy of a file system. Only root may make one. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { until } from '../manual-clock.js'
import { noPeer } from './peers.js'

/** A reason to skip what needs such a system. */
export function noMachine(): string | false {
  if (process.getuid?.() !== 0) return 'only root may start a system in a container'
  return noPeer('systemd-nspawn') || noPeer('nsenter') || noPeer('dpkg-deb')
}

/** The test runner adds to it for every program that a test starts: a module that the copy does not have. */
const noNodeOptions = ['env', '--unset=NODE_OPTIONS']

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** A copy of the file system at `base` that can be changed, gone at the end. */
export function copyFor(t: Test, base = '/'): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-machine-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  execFileSync('mount', ['-t', 'tmpfs', 'none', folder])
  t.teardown(() => spawnSync('umount', ['-l', folder]))
  const [upper, work, root] = ['upper', 'work', 'root'].map((name) => join(folder, name)) as [string, string, string]
  // The root of the copy is `upper`: whatever the umask is here, everybody may enter it there.
  for (const path of [upper, work, root]) {
    mkdirSync(path)
    chmodSync(path, 0o755)
  }
  execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', `lowerdir=${base},upperdir=${upper},workdir=${work}`, root])
  t.teardown(() => spawnSync('umount', ['-l', root]))
  return root
}

function debootstrap(...args: string[]): void {
  const { status, stdout, error } = spawnSync('debootstrap', args, { encoding: 'utf8', maxBuffer: 64 << 20 })
  if (error) throw error
  if (status !== 0) throw new Error(`debootstrap ended with ${status}: ${stdout.slice(-2_000)}`)
}

/** A fresh Debian 13 with Node, from Debian's packages: a minute or two. */
export function debian13(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-debian-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const packages = ['systemd', 'systemd-sysv', 'libpam-systemd', 'dbus', 'polkitd', 'udev', 'procps', 'nodejs']
  const begin = performance.now()
  debootstrap('--variant=minbase', `--include=${packages.join(',')}`, 'trixie', folder)
  t.comment(`debootstrap: ${Math.round((performance.now() - begin) / 1000)} s`)
  return folder
}

/** The packages of a Debian 13 for another machine, as files. */
export function debianPackages(t: Test, architecture: string, more: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-debian-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const what = [`--arch=${architecture}`, '--variant=minbase', `--include=${more.join(',')}`]
  debootstrap('--download-only', ...what, 'trixie', folder)
  const archives = join(folder, 'var', 'cache', 'apt', 'archives')
  return readdirSync(archives)
    .filter((name) => name.endsWith('.deb'))
    .map((name) => join(archives, name))
}

/** Runs a program on such a copy, without its systemd. */
export function inCopy(root: string, command: string, ...args: string[]): Ran {
  const isolated = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
  const all = ['-m', '-p', '-f', 'sh', '-c', isolated, root, ...noNodeOptions, command, ...args]
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' }
  const { status, stdout, stderr } = spawnSync('unshare', all, { encoding: 'utf8', env })
  return { code: status, stdout, stderr }
}

export interface Machine {
  readonly root: string
  /** Runs a program in the running system. */
  run(command: string, ...args: string[]): Ran
  write(path: string, text: string): void
  read(path: string): string
}

/** Starts systemd on the copy, up to its basic services. */
export async function startMachine(t: Test, root: string): Promise<Machine> {
  const boot = ['/lib/systemd/systemd', '--unit=basic.target']
  const nspawn = ['--register=no', '--keep-unit', '-q', '-D', root, '--private-network', '--console=pipe', ...boot]
  const container = spawn('systemd-nspawn', nspawn, {
    stdio: 'ignore',
    // Newer ones know the unified hierarchy alone.
    env: { ...process.env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' },
  })
  let init = 0
  const end = () => {
    if (init > 0) {
      try {
        process.kill(init, 'SIGKILL')
      } catch {}
    }
    container.kill('SIGKILL')
  }
  t.teardown(async () => {
    end()
    await until(() => container.exitCode !== null || container.signalCode !== null, 'the system ends')
  })
  const run = (command: string, ...args: string[]): Ran => {
    const { status, stdout, stderr } = spawnSync(
      'nsenter',
      ['-t', `${init}`, '-a', ...noNodeOptions, command, ...args],
      {
        encoding: 'utf8',
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' },
      },
    )
    return { code: status, stdout, stderr }
  }
  await until(
    () => {
      init = childrenOf(container.pid ?? 0).find((pid) => commandOf(pid).includes('systemd')) ?? 0
      return init > 0 && run('systemctl', 'is-active', 'basic.target').stdout.trim() === 'active'
    },
    'systemd is up',
    60_000,
  )
  return {
    root,
    run,
    write(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
  }
}

const childrenOf = (parent: number) =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && statusOf(name).includes(`\nPPid:\t${parent}\n`))
    .map(Number)

const statusOf = (pid: string | number) => readOf(`/proc/${pid}/status`)
const commandOf = (pid: number) => readOf(`/proc/${pid}/comm`)

function readOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
