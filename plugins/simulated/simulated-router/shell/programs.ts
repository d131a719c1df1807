/** The programs of the simulated router that the plugin teltonika-router runs. Nothing runs on this machine. */
import type { Device } from '../device/device.js'
import { gsmctl } from './gsmctl.js'
import { type Result, result } from './result.js'
import { runScript } from './scripts.js'

type Program = (device: Device, args: readonly string[]) => Result | Promise<Result>

const fields: Readonly<Record<string, 'serial' | 'name' | 'mac' | 'hwver' | 'batch'>> = {
  sn: 'serial',
  name: 'name',
  mac: 'mac',
  hwver: 'hwver',
  batch: 'batch',
}

/** `mnf_info --sn`, in the legacy generation `mnf_info sn`. */
function manufacturing({ identity }: Device, [flag = '']: readonly string[]): Result {
  const name = flag.replace(/^--/, '')
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  return field === undefined ? result(1, '', 'mnf_info: unknown option\n') : result(0, `${identity[field]}\n`)
}

function cat({ files }: Device, [file = '']: readonly string[]): Result {
  const data = files.read(file)
  return data ? result(0, data.toString()) : result(1, '', `cat: can't open '${file}': No such file or directory\n`)
}

function network(device: Device, [action]: readonly string[]): Result {
  if (action !== 'reload') return result(1, '', 'Syntax: /etc/init.d/network <command>\n')
  device.reloadNetwork()
  return result(0)
}

const programs: Readonly<Record<string, Program>> = {
  gsmctl,
  mnf_info: manufacturing,
  cat,
  '/etc/init.d/network': network,
  '/bin/sh': runScript,
}

/** Undefined: the router has no such program. */
export const findProgram = (command: string): Program | undefined =>
  Object.hasOwn(programs, command) ? programs[command] : undefined
