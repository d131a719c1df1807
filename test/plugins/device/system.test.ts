import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import system from '../../../plugins/device/system/index.js'
import { MachineHealth } from '../../../plugins/device/system/machine.js'
import { checks, type Evidence, runChecks } from '../../../plugins/device/system/self-test/checks.js'
import httpApi from '../../../plugins/page/http-api/index.js'
import { SimulatedMachine } from '../../../runtime/platform/ports/machine.js'
import type { AnyPlugin } from '../../../runtime/plugin.js'
import { during } from '../../harness/drive.js'
import { createTestStation, gateOnly, ManualClock, until } from '../../harness/index.js'
import { freeUdpPort } from '../../harness/process.js'

const plugins = { system }

t.test('the time of a receiver is used when it is credible, agreed, and contradicts nothing', async (t) => {
  const station = await createTestStation({ plugins: { system }, clock: new ManualClock(Date.UTC(2000, 0)) })
  t.teardown(() => station.stop())
  const { device, clock } = station
  const tell = async (utc_ms: number, seconds = 1) => {
    for (let second = 0; second < seconds; second++) {
      device.setUtc(utc_ms + second * 1_000)
      await clock.advance(1_000)
    }
  }
  await tell(Date.UTC(2099, 0), 30)
  t.notOk(device.knowsUtc, 'no release is so old')
  await tell(Date.UTC(2030, 0))
  await tell(Date.UTC(2027, 0), 10)
  t.notOk(device.knowsUtc, '9 s of agreement')
  await tell(Date.UTC(2027, 0) + 10_000)
  t.ok(device.knowsUtc)
  const now_ms = device.utc_ms()
  await tell(now_ms + 7_200_000, 60)
  t.ok(Math.abs(device.utc_ms() - now_ms - 60_000) < 10, 'a jump of two hours is not believed')
  t.match(device.errors(), [{ code: 'time-contradiction', text: /off by more than an hour/ }])
  await tell(device.utc_ms() + 500)
  t.ok(Math.abs(device.utc_ms() - now_ms - 61_500) < 10, 'a small one is')
  t.same(device.errors(), [])

  // Each step alone is less than an hour.
  const elapsed_ms = clock.monotonic()
  for (let step = 0; step < 20; step++) await tell(device.utc_ms() + 3_000_000)
  const moved_ms = device.utc_ms() - now_ms - 61_500 - (clock.monotonic() - elapsed_ms)
  t.ok(moved_ms < 3_600_000, `S9: many steps lead no further than one (${moved_ms} ms)`)
  t.match(device.errors(), [{ code: 'time-contradiction' }])
})

/** As the one of a machine: no two looks at it give the same time. */
class RunningClock extends ManualClock {
  #looks = 0
  override monotonic(): number {
    return super.monotonic() + ++this.#looks * 1e-4
  }
}

t.test('the time is served for 10 s after the last time of the receiver, and no longer', async (t) => {
  const station = await createTestStation({
    plugins: { system: [system as AnyPlugin, { ntpPort: await freeUdpPort() }] },
    clock: new RunningClock(),
  })
  t.teardown(() => station.stop())
  const served = () => station.field('base.clock.served') as number
  await until(() => station.field('base.clock.kept') === 'ntp', 'the start')
  for (let second = 0; second < 3; second++) {
    station.device.setUtc(station.clock.now())
    await station.clock.advance(1_000)
  }
  await until(() => served() > 0, 'the time is served')
  await station.clock.advance(8_000)
  t.ok(served() > 0, 'after 9 s')
  await station.clock.advance(2_000)
  t.equal(served(), 0, 'after 11 s')
})

t.test('the system clock is set from the receiver', async (t) => {
  const cases: [what: string, told_ms: (now_ms: number) => number, synchronised: boolean, set: boolean][] = [
    ['when it is off and nothing keeps it', (now_ms) => now_ms + 3_600_000, false, true],
    ['not where NTP keeps it', (now_ms) => now_ms + 3_600_000, true, false],
    ['not when it is nearly right', (now_ms) => now_ms + 1_900, false, false],
    ['not to a time before this was built', () => Date.parse('2022-05-01'), false, false],
  ]
  for (const [what, told_ms, synchronised, set] of cases) {
    await t.test(what, async (t) => {
      const asked: number[] = []
      const machine = new SimulatedMachine(() => {})
      machine.isClockSynchronised = async () => synchronised
      machine.setSystemTime = async (utc_ms?: number) => void asked.push(utc_ms as number)
      const station = await createTestStation({ plugins, machine })
      t.teardown(() => station.stop())
      const utc_ms = told_ms(station.clock.now())
      station.device.setUtc(utc_ms)
      for (let look = 0; look < 3; look++) await station.clock.advance(10_000)
      t.strictSame(asked, set ? [utc_ms + 10_000] : [])
    })
  }

  await t.test(
    'for as long as it runs: a crystal drifts, and the first attempt may fail',
    { skip: gateOnly },
    async (t) => {
      let synchronised = false
      let refused = true
      const asked_ms: number[] = []
      const machine = new SimulatedMachine(() => {})
      const station = await createTestStation({ plugins, machine })
      t.teardown(() => station.stop())
      const { clock, device } = station
      machine.isClockSynchronised = async () => synchronised
      machine.setSystemTime = async (utc_ms?: number) => {
        asked_ms.push(clock.monotonic())
        if (refused) throw new Error('no')
        clock.stepUtc((utc_ms as number) - clock.now())
      }
      const codes = () => device.errors().flatMap(({ code }) => (code === 'clock' ? [code] : []))
      device.setUtc(clock.now() + 3_600_000)
      await clock.advance(24 * 3_600_000)
      t.ok(asked_ms.length >= 6 && asked_ms.length <= 10, `${asked_ms.length} attempts in a day, all refused`)
      t.strictSame(codes(), ['clock'])
      refused = false
      await clock.advance(6 * 3_600_000)
      t.ok(Math.abs(device.utc_ms() - clock.now()) < 2_000)
      t.strictSame(codes(), [], 'told no longer')
      asked_ms.length = 0
      // 100 s an hour: of something that sets it wrong.
      for (let minutes = 0; minutes < 6 * 60; minutes++) {
        clock.stepUtc(-100_000 / 60)
        await clock.advance(60_000)
      }
      const least_ms = Math.min(...asked_ms.slice(1).map((at_ms, n) => at_ms - (asked_ms[n] as number)))
      t.ok(least_ms >= 600_000, `${least_ms / 1000} s between two times`)
      t.ok(asked_ms.length >= 30, 'again and again')
      t.ok(Math.abs(device.utc_ms() - clock.now()) < 20_000)
      synchronised = true
      asked_ms.length = 0
      clock.stepUtc(-100_000)
      await clock.advance(3_600_000)
      t.strictSame(asked_ms, [], 'what keeps it now is left to it')
    },
  )

  await t.test('and where that may not be, it is told in one line, with what to do', async (t) => {
    const machine = new SimulatedMachine(() => {})
    machine.isClockSynchronised = async () => false
    machine.setSystemTime = async () => {
      throw new Error('Command failed: date --utc --set=@1.000\ndate: cannot set date: Operation not permitted\n')
    }
    const station = await createTestStation({ plugins, machine })
    t.teardown(() => station.stop())
    station.device.setUtc(station.clock.now() - 90_000)
    await station.clock.advance(10_000)
    const text =
      /^the system clock is off by 90 s and could not be set \(date: [^\n]+ permitted\): let NTP keep it, [^\n]+$/
    t.match(station.device.errors(), [{ code: 'clock', text }])
  })
})

t.test('the machine tells what it can, and nothing of what it cannot', async (t) => {
  const clock = new ManualClock()
  const health = (files: Record<string, string>) => {
    const root = t.testdir({})
    const write = (own: Record<string, string>) => {
      for (const [name, text] of Object.entries(own)) {
        mkdirSync(dirname(join(root, 'sys', name)), { recursive: true })
        writeFileSync(join(root, 'sys', name), text)
      }
    }
    write(files)
    const ctx = { clock, dataDir: () => ({ path: root }) } as never
    return { machine: new MachineHealth(ctx, { root }), write }
  }
  const disk = { free: Number, size: Number }
  await t.test('a computer without sensors has a disk', async (t) => {
    const { machine } = health({})
    t.equal(machine.fields, undefined, 'nothing before the first reading')
    await machine.read()
    t.match(machine.fields, { disk })
    t.strictSame(Object.keys(machine.fields ?? {}), ['disk'])
  })
  await t.test('a Raspberry Pi', async (t) => {
    const zone = (celsius: number) => `${celsius * 1000}\n`
    const firmware = 'devices/platform/soc/soc:firmware/get_throttled'
    const { machine, write } = health({
      'class/thermal/thermal_zone0/temp': zone(51.26),
      'class/thermal/thermal_zone1/temp': zone(40),
      'class/thermal/thermal_zone2/temp': 'broken',
      [firmware]: '0\n',
    })
    await machine.read()
    t.match(machine.fields, { temp: 51.3, disk, undervoltage: false })
    write({ [firmware]: '50000\n' })
    t.match(machine.fields, { undervoltage: false }, 'read at most every 10 s')
    await clock.advance(10_000)
    t.match(machine.fields, { undervoltage: false }, 'the document waits for no file')
    await until(() => machine.fields?.undervoltage === true, 'the next reading')
  })
  await t.test('the driver of other kernels tells of now alone', async (t) => {
    const alarm = 'class/hwmon/hwmon1/in0_lcrit_alarm'
    const { machine, write } = health({ 'class/hwmon/hwmon0/name': 'cpu', [alarm]: '1\n' })
    await machine.read()
    t.match(machine.fields, { undervoltage: true })
    write({ [alarm]: '0\n' })
    await machine.read()
    t.match(machine.fields, { undervoltage: true }, 'it was, since the start')
  })
})

t.test('the self-test', async (t) => {
  const document = {
    eth: { enabled: true, cable: true, ip: '10.0.0.2' },
    wap: { enabled: true, bssid: 'aa', ssid: 'roof', channel: 6 },
    sta: { bssid: 'bb', ip4: '10.1.0.2', rssi: -60 },
    router: { swver: 'R', state: { link: 'online', error: '' } },
    modem: { sim: { state: 'ready' }, state: { network: 'home' } },
  }
  const reception = {
    antenna: 'ok',
    jamming: 'ok',
    interfered: false,
    jammed: false,
    spoofing: 'none',
    spoofed: false,
    slips: 0,
    satellitesUsed: 12,
    satellitesVisible: 20,
    held: '',
  } as const
  const link = { enabled: true, up: true, state: 'up', via: 'eth', certificateUntil_s: 100 * 86_400 } as const
  const good: Evidence = {
    document,
    seconds: 3,
    identity: { module: 'ZED-F9P', firmware: 'HPG 1.32', hardware: '', software: '', serial: '5A45440001' },
    frames: 15,
    reception,
    reference: { status: 'fixed', age_s: 0.2 },
    link,
    errors: [],
    memoryFree_bytes: 100 * 2 ** 20,
    store: '',
    free_bytes: 10 ** 9,
    temperature_celsius: 50,
    throttled: 0,
    clockOff_s: 0.1,
    dns: '',
    now_s: 86_400,
  }
  t.strictSame(
    runChecks(good).filter(({ verdict }) => verdict !== 'PASS'),
    [],
  )
  const received = (change: Partial<Evidence['reception']>) => ({ reception: { ...reception, ...change } })
  const part = (change: object) => ({ document: { ...document, ...change } })
  const bad: Record<string, Partial<Evidence>> = {
    store: { store: 'the disk is full' },
    'disk-free': { free_bytes: 1e6 },
    'memory-free': { memoryFree_bytes: 1e6 },
    temperature: { temperature_celsius: 91 },
    supply: { throttled: 0x50000 },
    receiver: { identity: { module: '', firmware: '', hardware: '', software: '', serial: '' } },
    'receiver-data': { frames: 0 },
    antenna: received({ antenna: 'open' }),
    satellites: received({ satellitesUsed: 6 }),
    interference: received({ jamming: 'warning' }),
    reference: { reference: { status: 'moved', age_s: 0.2 } },
    clock: { clockOff_s: -40 },
    ethernet: part({ eth: { enabled: true, cable: false, ip: '' } }),
    'access-point': part({ wap: { enabled: true, bssid: '' } }),
    'wifi-uplink': part({ sta: { bssid: 'bb', ip4: '10.1.0.2', rssi: -88 } }),
    dns: { dns: 'ENOTFOUND' },
    broker: {
      link: { ...link, up: false, state: 'down', failure: { cause: 'refused', text: 'refused' } },
    },
    certificate: { now_s: 90 * 86_400 },
    router: part({ router: { state: { link: 'locked', error: 'no password fits' } } }),
    sim: part({ modem: { sim: { state: 'pin' }, state: { network: 'unregistered' } } }),
    errors: { errors: [{ code: 'disk' }] },
  }
  t.strictSame(new Set(Object.keys(bad)), new Set(checks.map(({ name }) => name)))
  for (const [name, change] of Object.entries(bad)) {
    const failed = runChecks({ ...good, ...change }).filter(({ verdict }) => verdict === 'FAIL')
    t.match(
      failed.map((line) => line.name),
      [name],
      name,
    )
    t.equal(failed.length, 1, name)
  }
  const measured = (name: string) => runChecks(good).find((line) => line.name === name)?.value
  t.strictSame(['memory-free', 'disk-free', 'store'].map(measured), ['100 MiB', '953 MiB', 'ok'])
  const passed = (evidence: Partial<Evidence>) =>
    runChecks({ ...good, ...evidence }).flatMap(({ verdict, name }) => (verdict === 'PASS' ? [name] : []))
  const atLimit: Record<string, Partial<Evidence>> = {
    'disk-free': { free_bytes: 50 * 2 ** 20 },
    'memory-free': { memoryFree_bytes: 32 * 2 ** 20 },
    satellites: received({ satellitesUsed: 10 }),
  }
  for (const [name, evidence] of Object.entries(atLimit)) t.ok(passed(evidence).includes(name), `${name} at its limit`)
  const nothing: Partial<Evidence> = {
    document: {},
    identity: undefined,
    frames: undefined,
    reception: undefined,
    reference: undefined,
    link: undefined,
    temperature_celsius: undefined,
    throttled: undefined,
    free_bytes: undefined,
    clockOff_s: undefined,
    dns: undefined,
  }
  t.strictSame(passed(nothing), ['store', 'memory-free', 'errors'], 'what is not there is not ok')
  const unknown = ['antenna', 'satellites', 'interference']
  const silent = received({ antenna: 'unknown', jamming: 'unknown', spoofing: 'none', satellitesUsed: undefined })
  t.strictSame(
    passed({}).filter((name) => !passed(silent).includes(name)),
    unknown,
    'what the receiver does not say is not ok',
  )
  t.match(
    runChecks({ ...good, ...received({ jamming: 'unknown', spoofing: 'multiple' }) }).find(
      ({ name }) => name === 'interference',
    ),
    { verdict: 'FAIL', value: 'jamming unknown, spoofing multiple' },
  )

  t.test('runs by command, one at a time, and its report is kept', async (t) => {
    const station = await createTestStation({ plugins: { system, 'http-api': httpApi } })
    t.teardown(() => station.stop())
    const send = (name: string) => station.request(`/system?${name}`, { method: 'POST' })
    const running = send('start-hardware-test')
    await until(() => station.clock.pending > 0, 'begun')
    t.match(await send('start-production-test'), { status: 503, text: /runs already/ })
    const { text } = await during(station.clock, running, 'the hardware test', 3_000)
    t.match(text, /^hardware test .*\nPASS store: ok/)
    t.match(text, /\nSKIP receiver: - \(identified\)\n/)
    t.match(text, /\n(PASS|FAIL): \d+ passed, \d+ failed, \d+ skipped\n$/)
    const kept = (await station.request('/nvs?namespace=system')).json() as { hardwareTest: string }
    t.equal(`${kept.hardwareTest}\n`, text)
    const production = send('start-production-test')
    t.match(
      (await during(station.clock, production, 'the production test', 3_000)).text,
      /\nFAIL receiver: -.*\n(.*\n)*FAIL: /,
      'at the end of the line nothing may be missing',
    )
  })
})
