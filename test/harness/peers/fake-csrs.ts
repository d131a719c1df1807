/** A service like CSRS-PPP on loopback: its answers are set, its requests are kept. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32, deflateRawSync } from 'node:zlib'
import type { Test } from 'tap'
import type { Ecef } from '../../../schemas/services.js'

/** As the service writes it (columns of its documentation). */
export const sum = ({ x, y, z }: Ecef, frame = 'IGb20', epoch = '26:331:43200', height = 1.5) =>
  [
    `ARP 0.0000 0.0000 ${height.toFixed(4)}`,
    'HDR Canadian Spatial Reference System - Precise Point Positioning',
    'RNX ROOF00XXX_R_20263310000_01D_30S_MO.rnx',
    ...(['X', 'Y', 'Z'] as const).map((axis, at) => {
      const value = [x, y, z][at] ?? 0
      return `POS ${axis} ${frame} ${epoch} ${(value + 1.2).toFixed(4)} ${value.toFixed(4)} -1.2000 0.0098 1.0000`
    }),
    '',
  ].join('\n')

export function zipOf(files: Readonly<Record<string, Buffer>>): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, bytes] of Object.entries(files)) {
    const packed = deflateRawSync(bytes)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(bytes), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(bytes.length, 18)
    fields.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), fields, tail, Buffer.from(name)]))
    locals.push(local)
    at += local.length
  }
  const all = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(locals.length, 10)
  end.writeUInt32LE(all.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, all, end])
}

export interface FakeCsrs {
  /** Answers to submissions, the last again and again. */
  submit: string[]
  status: string[]
  file: Buffer
  code: number
  readonly requests: { url: string; agent: string; body: Buffer }[]
  readonly url: string
}

export async function fakeCsrs(t: Pick<Test, 'teardown'>): Promise<FakeCsrs> {
  const fake = {
    submit: ['KEY12345'],
    status: ['done'],
    file: Buffer.alloc(0),
    code: 200,
    requests: [],
    url: '',
  } as FakeCsrs & {
    url: string
  }
  const next = (answers: string[]) => (answers.length > 1 ? answers.shift() : answers[0]) ?? ''
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const url = request.url ?? ''
      fake.requests.push({ url, agent: `${request.headers['user-agent']}`, body: Buffer.concat(parts) })
      response.statusCode = fake.code
      if (url.startsWith('/results/file')) return response.end(fake.file)
      response.end(url.startsWith('/submit') ? next(fake.submit) : next(fake.status))
    })
  }
  const server = createServer(answer)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return fake
}
