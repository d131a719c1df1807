import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { serialDevices } from '../../../plugins/receivers/gnss-auto/devices.js'
import { createTestStation, freeTcpPort, type TestStation, until } from '../../harness/index.js'

const standby = { 'gnss-zed': {}, 'gnss-unicore': {}, 'gnss-quectel': {}, 'gnss-septentrio': {} }
const place = (port: number) => `tcp://127.0.0.1:${port}`

async function stationWith(
  t: { teardown(fn: () => unknown): unknown },
  sources: Record<string, object>,
  ports: readonly string[],
) {
  const station = await createTestStation({
    sources: { system: {}, gnss: {}, ...sources, 'gnss-auto': { ports } } as Record<string, Record<string, unknown>>,
    variant: { standby },
  })
  t.teardown(() => station.stop())
  return station
}

/** Lets time pass until it is so; the sockets are real. */
const passing = (station: TestStation, condition: () => unknown, what: string, step_ms = 100) =>
  until(
    async () => {
      await station.clock.advance(step_ms)
      return condition()
    },
    what,
    30_000,
  )
const errorsOf = (station: TestStation) => station.field('base.state.errors') as { code: string; text: string }[]
const hasError = (station: TestStation, code: string) => errorsOf(station).some((error) => error.code === code)
const running = (station: TestStation) =>
  station.station
    .plugins()
    .filter(({ name, state }) => name in standby && state === 'running')
    .map(({ name }) => name)

t.test('the family is recognised, and its plugin loaded', async (t) => {
  for (const [simulator, driver] of [
    ['simulated-receiver', 'gnss-zed'],
    ['simulated-um980', 'gnss-unicore'],
  ] as const) {
    const tcp = await freeTcpPort()
    const started_ms = Date.now()
    const station = await stationWith(t, { [simulator]: { tcp } }, [place(tcp)])
    await passing(station, () => running(station).length > 0, driver)
    t.strictSame(running(station), [driver])
    t.ok(Date.now() - started_ms < 30_000)
    await passing(station, () => !hasError(station, 'receiver-not-found'), 'no error is left')
    await passing(station, () => station.field('gnss.state.status') !== 'offline', 'the receiver is there')
  }
})

t.test('another receiver at the same port is found, although the line to it stays', async (t) => {
  const [first, other] = [await freeTcpPort(), await freeTcpPort()]
  const lines = new Set<Socket>()
  let behind = first
  const server = createServer((line) => {
    const far = connect(behind, '127.0.0.1')
    const isClosed = () => {
      for (const socket of [line, far]) lines.delete(socket.destroy())
    }
    for (const socket of [line, far]) lines.add(socket.on('error', () => {}).on('close', isClosed))
    line.pipe(far).pipe(line)
    if (behind === first) return
    const says = setInterval(() => line.write('$GNGGA,,,,,,0,,,,,,,,*78\r\n'), 2)
    line.on('close', () => clearInterval(says))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    for (const socket of lines) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  const second = await createTestStation({ sources: { gnss: {}, 'simulated-um980': { tcp: other } } })
  t.teardown(() => second.stop())
  const station = await stationWith(t, { 'simulated-receiver': { tcp: first } }, [place(port)])
  const drives = (driver: string) => async () => {
    await second.clock.advance(100)
    return running(station).join() === driver
  }
  await passing(station, drives('gnss-zed'), 'the driver of the first')
  await passing(station, () => station.field('gnss.state.status') !== 'offline', 'the receiver is there')
  behind = other
  for (const socket of lines) socket.destroy()
  // Five minutes, in which its sentences keep the link up.
  await passing(station, drives(''), 'no driver', 1_000)
  await passing(station, drives('gnss-unicore'), 'the driver of the other')
})

t.test('P9: an outage of minutes leaves the driver loaded; a receiver at another port takes its place', async (t) => {
  const [first, second] = [await freeTcpPort(), await freeTcpPort()]
  const lines = new Set<Socket>()
  let isAway = false
  const server = createServer((line) => {
    if (isAway) return void line.destroy()
    const far = connect(first, '127.0.0.1')
    for (const socket of [line, far]) lines.add(socket.on('error', () => {}))
    line.pipe(far).pipe(line)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    for (const socket of lines) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  const sources = { 'simulated-receiver': { tcp: first }, rtcm: {}, integrity: {}, 'survey-in': {} }
  const station = await stationWith(t, sources, [place(port), place(second)])
  const drives = (driver: string) => () => running(station).join() === driver
  await passing(station, drives('gnss-zed'), 'its driver')
  await passing(station, () => station.field('gnss.state.status') !== 'offline', 'the receiver is there')
  isAway = true
  for (const socket of lines) socket.destroy()
  await passing(station, () => station.field('gnss.state.status') === 'offline', 'away')
  const end_ms = station.clock.monotonic() + 300_000
  const seen = new Set<string>()
  await passing(
    station,
    () => {
      seen.add(running(station).join())
      return station.clock.monotonic() > end_ms
    },
    'five minutes',
    1_000,
  )
  t.strictSame([...seen], ['gnss-zed'], 'the driver stays')
  const other = await createTestStation({ sources: { gnss: {}, 'simulated-um980': { tcp: second } } })
  t.teardown(() => other.stop())
  await passing(
    station,
    async () => {
      await other.clock.advance(100)
      return drives('gnss-unicore')()
    },
    'the driver of the other',
    1_000,
  )
})

t.test('P9: two receivers at other ports do not take the place of one that is away, and comes back', async (t) => {
  const [first, ...others] = [await freeTcpPort(), await freeTcpPort(), await freeTcpPort()]
  const lines = new Set<Socket>()
  let isAway = false
  const server = createServer((line) => {
    if (isAway) return void line.destroy()
    const far = connect(first as number, '127.0.0.1')
    for (const socket of [line, far]) lines.add(socket.on('error', () => {}))
    line.pipe(far).pipe(line)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    for (const socket of lines) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  const sources = { 'simulated-receiver': { tcp: first }, rtcm: {}, integrity: {}, 'survey-in': {} }
  const station = await stationWith(t, sources, [place(port), ...others.map(place)])
  await passing(station, () => running(station).join() === 'gnss-zed', 'its driver')
  const isThere = () => station.field('gnss.state.status') !== 'offline'
  await passing(station, isThere, 'the receiver is there')
  isAway = true
  for (const socket of lines) socket.destroy()
  await passing(station, () => !isThere(), 'away')
  const beside = await Promise.all(
    others.map((tcp) => createTestStation({ sources: { gnss: {}, 'simulated-um980': { tcp } } })),
  )
  t.teardown(() => Promise.all(beside.map((other) => other.stop())))
  const pass = (condition: () => unknown, what: string) =>
    passing(
      station,
      async () => {
        await Promise.all(beside.map((other) => other.clock.advance(100)))
        return condition()
      },
      what,
      1_000,
    )
  const end_ms = station.clock.monotonic() + 180_000
  await pass(() => station.clock.monotonic() > end_ms, 'three minutes')
  t.strictSame(running(station), ['gnss-zed'], 'the driver stays')
  isAway = false
  await pass(isThere, 'back')
  // One of the two is taken away: the other one would have its place.
  await beside[0]?.stop()
  const later_ms = station.clock.monotonic() + 60_000
  await pass(() => station.clock.monotonic() > later_ms, 'a minute')
  t.strictSame(running(station), ['gnss-zed'], 'its driver is still there')
  t.notOk(hasError(station, 'receivers-found'))
})

t.test('what is no receiver is not taken for one, and is told nothing but questions', async (t) => {
  const heard: Buffer[] = []
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      heard.push(chunk)
      // As a modem does: a question that comes back is no answer.
      socket.write(chunk)
    })
    socket.on('error', () => {})
    socket.write('AT\r\nOK\r\n$GPGGA,broken\r\n')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const station = await stationWith(t, {}, [place(port), place(await freeTcpPort())])
  await passing(station, () => hasError(station, 'receiver-not-found'), 'the error')
  t.match(errorsOf(station).find(({ code }) => code === 'receiver-not-found')?.text, /ECONNREFUSED/)
  t.strictSame(running(station), [])
  t.notMatch(Buffer.concat(heard).toString('latin1'), /CFG|MODE|SAVE|RESET|set[A-Z]/)
})

t.test('two receivers: it asks which', async (t) => {
  const [one, other] = [await freeTcpPort(), await freeTcpPort()]
  const sources = { 'simulated-receiver': { tcp: one } }
  const second = await createTestStation({ sources: { gnss: {}, 'simulated-um980': { tcp: other } } })
  t.teardown(() => second.stop())
  // It has booted before the search begins.
  await second.clock.advance(6_000)
  const station = await stationWith(t, sources, [place(one), place(other)])
  await passing(
    station,
    async () => {
      await second.clock.advance(100)
      return hasError(station, 'receivers-found')
    },
    'the error',
  )
  t.match(errorsOf(station).find(({ code }) => code === 'receivers-found')?.text, /u-blox at .*Unicore at /)
  t.strictSame(running(station), [])
})

t.test('serial devices: by id first, each once, no modems', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'rtk-base-dev-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  for (const name of ['ttyACM0', 'ttyUSB0', 'ttyUSB1', 'ttyAMA0', 'ttyS0', 'tty1', 'null'])
    writeFileSync(join(root, name), '')
  const byId = join(root, 'serial', 'by-id')
  mkdirSync(byId, { recursive: true })
  symlinkSync('../../ttyACM0', join(byId, 'usb-u-blox_GNSS_receiver-if00'))
  symlinkSync('../../ttyUSB0', join(byId, 'usb-Quectel_EC25-AF_LTE_Modem-if02'))
  t.strictSame(
    serialDevices(root).map((path) => path.slice(root.length + 1)),
    ['serial/by-id/usb-u-blox_GNSS_receiver-if00', 'ttyAMA0', 'ttyUSB1'],
  )
  t.strictSame(serialDevices(join(root, 'none')), [])
  t.end()
})
