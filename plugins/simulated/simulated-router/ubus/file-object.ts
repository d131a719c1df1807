/** `file`: runs programs and reads files (reference §3.3). There is no `exec2`. */
import { createHash } from 'node:crypto'
import type { Device } from '../device/device.js'
import { findProgram } from '../shell/programs.js'
import type { Result } from '../shell/result.js'
import { type Args, done, failed, ok, type Reply, text, type UbusObject, ubusStatus } from './object.js'

const ended = Symbol('the program took too long')

/** Upstream has 120 s, RUTOS 200 s and from 7.13 on 300 s. */
function timeout_ms({ options, firmware }: Device): number {
  const byVersion_s = firmware.legacy ? 120 : firmware.minor >= 13 ? 300 : 200
  return (options.execTimeout_s || byVersion_s) * 1000
}
/** More than that is an error upstream; RUTOS takes more. */
const mostOutput_bytes = ({ firmware }: Device) => (firmware.legacy ? 256 : 1024) * 1024

/** Ends a program that takes too long. */
async function within(device: Device, run: Result | Promise<Result>): Promise<Result | typeof ended> {
  let cancel = () => {}
  const limit = new Promise<typeof ended>((resolve) => {
    cancel = device.delays.after(timeout_ms(device), () => resolve(ended))
  })
  return Promise.race([run, limit]).finally(cancel)
}

async function exec(args: Args, device: Device): Promise<Reply> {
  const command = text(args, 'command')
  const params = args.params ?? []
  if (command === undefined || !Array.isArray(params) || !params.every((one) => typeof one === 'string')) {
    return failed(ubusStatus.invalidArgument)
  }
  const program = findProgram(command)
  if (program === undefined) return failed(ubusStatus.notFound)
  const result = await within(device, program(device, params))
  if (result === ended) return failed(ubusStatus.timeout)
  const { code, stdout, stderr } = result
  if (Buffer.byteLength(stdout) + Buffer.byteLength(stderr) > mostOutput_bytes(device))
    return failed(ubusStatus.notSupported)
  return ok({ code, ...(stdout === '' ? {} : { stdout }), ...(stderr === '' ? {} : { stderr }) })
}

const withFile = (args: Args, { files }: Device, use: (data: Buffer) => Reply): Reply => {
  const path = text(args, 'path')
  if (path === undefined) return failed(ubusStatus.invalidArgument)
  const data = files.read(path)
  return data === undefined ? failed(ubusStatus.notFound) : use(data)
}

export const fileObject: UbusObject = {
  methods: {
    exec: (args, { device }) => exec(args, device),
    read: (args, { device }) =>
      withFile(args, device, (data) => ok({ data: data.toString(args.base64 === true ? 'base64' : 'utf8') })),
    write: (args, { device }) => {
      const [path, data] = [text(args, 'path'), text(args, 'data')]
      if (path === undefined || data === undefined) return failed(ubusStatus.invalidArgument)
      const bytes = Buffer.from(data, args.base64 === true ? 'base64' : 'utf8')
      const problem = device.files.write(path, bytes, args.append === true)
      return problem === undefined ? done : failed(ubusStatus.permissionDenied)
    },
    stat: (args, { device }) =>
      withFile(args, device, (data) => ok({ path: args.path, type: 'file', size: data.length, mode: 33_188 })),
    md5: (args, { device }) =>
      withFile(args, device, (data) => ok({ md5: createHash('md5').update(data).digest('hex') })),
    list: (args, { device }) => {
      const path = text(args, 'path')
      if (path === undefined) return failed(ubusStatus.invalidArgument)
      const entries = device.files.list(path)
      return entries.length > 0
        ? ok({ entries: entries.map((name) => ({ name, type: 'file' })) })
        : failed(ubusStatus.notFound)
    },
    remove: (args, { device }) => {
      const path = text(args, 'path')
      if (path === undefined) return failed(ubusStatus.invalidArgument)
      return device.files.remove(path) ? done : failed(ubusStatus.notFound)
    },
  },
}
