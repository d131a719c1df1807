/** A report's facts about the machine. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import os from 'node:os'
import { SystemProcesses } from '../../platform/ports/processes.js'

const megabyte = 1_048_576
/** Serial ports of any driver; the consoles of the machine are none. */
const serialPort = /^\/dev\/(tty[A-Z]|pts\/|rfcomm|gnss)/
const limit_ms = 3_000

/** Never rejects: missing facts are reported as unknown. */
export async function systemFacts(data: string): Promise<Record<string, unknown>> {
  const disk = await statfs(data).catch(() => undefined)
  return {
    t: new Date().toISOString(),
    kernel: `${os.type()} ${os.release()} ${os.arch()}`,
    system: /^PRETTY_NAME="?([^"\n]*)/m.exec(textOf('/etc/os-release'))?.[1] ?? 'unknown',
    model: textOf('/sys/firmware/devicetree/base/model').replaceAll('\0', '') || 'unknown',
    node: process.version,
    uptime_s: Math.round(os.uptime()),
    load: os.loadavg(),
    processors: os.cpus().length,
    memory_MB: { total: Math.round(os.totalmem() / megabyte), free: Math.round(os.freemem() / megabyte) },
    disk_MB: disk
      ? {
          total: Math.round((disk.blocks * disk.bsize) / megabyte),
          free: Math.round((disk.bavail * disk.bsize) / megabyte),
        }
      : 'unknown',
    clock: await clockFacts(),
    interfaces: Object.fromEntries(
      Object.entries(os.networkInterfaces()).map(([name, all = []]) => [
        name,
        all.map(({ cidr, mac }) => ({ cidr, mac })),
      ]),
    ),
    serialPorts: serialPorts(),
    openBy: openPorts(),
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}

async function clockFacts(): Promise<string> {
  try {
    const { code, stdout } = await new SystemProcesses().execFile('timedatectl', ['show'], { timeout_ms: limit_ms })
    return code === 0 ? stdout.trim().replaceAll('\n', ', ') : 'unknown'
  } catch {
    return 'unknown'
  }
}

function serialPorts(): string[] {
  const folder = '/dev/serial/by-id'
  try {
    return existsSync(folder)
      ? readdirSync(folder).map((name) => `${name} -> ${readlinkSync(`${folder}/${name}`)}`)
      : []
  } catch {
    return []
  }
}

/**
 * Programs that have a serial port open. Only root sees those of other users: the number of unreadable processes is
 * reported.
 */
export function openPorts(): { programs: { pid: number; program: string; port: string }[]; unreadable: number } {
  const programs: { pid: number; program: string; port: string }[] = []
  let unreadable = 0
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  for (const pid of pids) {
    try {
      const folder = `/proc/${pid}/fd`
      const ports = new Set(readdirSync(folder).map((fd) => linkOf(`${folder}/${fd}`)))
      for (const port of ports)
        if (serialPort.test(port)) programs.push({ pid: Number(pid), program: textOf(`/proc/${pid}/comm`), port })
    } catch (error) {
      if ((error as { code?: string }).code === 'EACCES') unreadable += 1
    }
  }
  return { programs, unreadable }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
