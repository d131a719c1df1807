/** What every receiver plugin must stand: the shipped one stands it, and each check fails for a receiver that breaks just that. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import replayed from '../../../examples/replayed-receiver/index.js'
import gnssZed from '../../../plugins/receivers/gnss-zed/index.js'
import receiverSimulator from '../../../plugins/simulated/simulated-receiver/index.js'
import { decodeRtcm, encodeRtcm } from '../../../runtime/lib/gnss/index.js'
import type { Event, PluginContext } from '../../../runtime/plugin.js'
import { type Receiver, type ReceiverReport, receiver as receiverToken } from '../../../schemas/services.js'
import { gateOnly, type ReceiverDevice, receiverConformance, type TestStation } from '../../harness/index.js'
import { sample } from '../../harness/sample.js'
import type { Definition } from '../reference/survey-in-rig.js'

/** The simulated receiver, by its command. */
function simulatedDevice(): ReceiverDevice {
  let station: TestStation | undefined
  const sim = async (text: string) => {
    const { status, text: answer } = (await station?.station.command(`sim=${text}`, { source: 'plugin' })) ?? {}
    if (status !== 200) throw new Error(`sim=${text}: ${answer}`)
  }
  return {
    begin(begun) {
      station = begun
    },
    connect: () => sim('replug'),
    disconnect: () => sim('unplug'),
    silence: (on) => sim(`silence ${on ? 'on' : 'off'}`),
    restart: () => sim('restart'),
    refuse: (on) => sim(`nak ${on ? 'CFG-TMODE-MODE' : 'off'}`),
    wrongReference: (on) => sim(`wrong-1005 ${on ? 1 : 'off'}`),
    antenna: (status) => sim(`antenna ${status}`),
    jam: (on) => sim(`jam ${on ? 30 : 'off'}`),
    spoof: (on) => sim(`spoof ${on ? 2 : 1}`),
  }
}

t.test('gnss-zed with the simulated receiver', (t) =>
  t.resolves(
    receiverConformance(gnssZed as unknown as Definition, simulatedDevice(), {
      options: { port: 'simulator' },
      surroundings: {
        plugins: { 'simulated-receiver': [receiverSimulator as unknown as Definition, { boot: 'rover' }] },
      },
    }),
  ),
)

// ── the example, and what it would be if it were wrong ──────────────────────────────────────────────────────────────

const folder = mkdtempSync(join(tmpdir(), 'rtk-base-receiver-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const example = resolve('examples', 'replayed-receiver')

/** The script of the example, but for what is given. */
function script(changes: object = {}): string {
  const given = JSON.parse(readFileSync(join(example, 'receiver.json'), 'utf8'))
  const path = join(folder, `${Math.random()}.json`)
  writeFileSync(path, JSON.stringify({ ...given, faults: [], rtcm: join('..', '..', example, given.rtcm), ...changes }))
  return path
}

function replayedDevice(): ReceiverDevice {
  let station: TestStation | undefined
  const replay = async (text: string) => void (await station?.station.command(`replay=${text}`, { source: 'plugin' }))
  const during = (fault: string) => (on: boolean) => replay(on ? fault : 'well')
  return {
    begin(begun) {
      station = begun
    },
    connect: () => replay('well'),
    disconnect: () => replay('offline'),
    silence: during('silent'),
    restart: () => replay('restart'),
    refuse: during('deaf'),
    wrongReference: during('wrong-1005'),
    antenna: (status) => replay(status === 'ok' ? 'well' : status),
    jam: during('jammed'),
    spoof: during('spoofed'),
  }
}

const check = (definition: unknown, path: string, device = replayedDevice()) =>
  receiverConformance(definition as Definition, device, { options: { script: path } })

t.test('the example stands it', { skip: gateOnly }, (t) => t.resolves(check(replayed, script())))

t.test('and without a serial number', { skip: gateOnly }, async (t) => {
  const { identity } = JSON.parse(readFileSync(join(example, 'receiver.json'), 'utf8'))
  await t.resolves(check(replayed, script({ identity: { ...identity, serial: '' } })))
})

t.test('and without anything that is optional', { skip: gateOnly }, async (t) => {
  const { can } = JSON.parse(readFileSync(join(example, 'receiver.json'), 'utf8'))
  await t.resolves(check(replayed, script({ can: { ...can, reports: [], stationId: false } })))
})

/** The same plugin, whose receiver has other members. */
function wrong(change: (right: Receiver, ctx: PluginContext) => Partial<Receiver>): Definition {
  const plain = replayed as unknown as Definition
  return {
    ...plain,
    setup: (ctx: PluginContext, options: never) =>
      plain.setup(
        {
          ...ctx,
          services: {
            ...ctx.services,
            provide(token, value) {
              if (token.id !== receiverToken.id) return ctx.services.provide(token, value)
              const right = value as unknown as Receiver
              const other = change(right, ctx)
              const get = (_: unknown, name: string) => Reflect.get(name in other ? other : right, name)
              return ctx.services.provide(token, new Proxy(value as object, { get }) as never)
            },
          },
        },
        options,
      ),
  } as unknown as Definition
}

/** The event with other values. */
const one =
  <V>(change: (value: V) => V, on: Event<V> | undefined): Event<V> =>
  (fn) =>
    on?.((value) => fn(change(value))) ?? (() => {})

/** What is wrong, the complaint, and the receiver that does just that. */
const wrongs: readonly [what: string, complaint: RegExp, Parameters<typeof wrong>[0]][] = [
  [
    'is never offline',
    /while it is not there: link is not offline/,
    (right) => ({
      get link() {
        return right.link === 'offline' ? 'stalled' : right.link
      },
    }),
  ],
  ['is never up', /as it comes: link is offline, not up/, () => ({ link: 'offline' })],
  [
    'is never silent',
    /a silence: link is up, not stalled/,
    (right) => ({
      get link() {
        return right.link === 'stalled' ? 'up' : right.link
      },
    }),
  ],
  [
    'knows who it is before it was asked',
    /while it is not there: it has an identity already/,
    () => ({ identity: { module: 'RP-1', firmware: '', hardware: '', software: '', serial: 'x' } }),
  ],
  [
    'never says who it is',
    /as it comes: identity\.module is empty/,
    () => ({ identity: { module: '', firmware: '', hardware: '', software: '', serial: 'x' } }),
  ],
  [
    'keeps its last fix',
    /a silence: fix is not undefined/,
    (right) => {
      let last: Receiver['fix']
      return {
        get fix() {
          last = right.fix ?? last
          return last
        },
      }
    },
  ],
  [
    'keeps its last satellites',
    /a silence: satellites is not undefined/,
    (right) => {
      let last: Receiver['satellites']
      right.onSatellites?.((epoch) => {
        last = epoch
      })
      return {
        get satellites() {
          return last
        },
      }
    },
  ],
  ['says nothing of its state', /changes without onState/, () => ({ onState: () => () => {} })],
  [
    'configures what is not there',
    /while it is not there: configure resolves/,
    (right) => ({ configure: (target) => right.configure(target).catch(() => ({ written: 0, refused: [] })) }),
  ],
  [
    'rejects with an error of its own',
    /configure rejects with .*, not RTK_ERR_UNAVAILABLE/,
    (right) => ({
      configure: (target) =>
        right.configure(target).catch((error) => {
          throw new Error(String(error))
        }),
    }),
  ],
  [
    'is not a rover when told to',
    /as a rover: readTarget gives/,
    (right) => ({ readTarget: async () => (right.link === 'up' ? { mode: 'survey-in' } : undefined) }),
  ],
  [
    'reads back another position',
    /as a base: readTarget gives/,
    (right) => ({
      readTarget: async () => {
        const held = await right.readTarget()
        return held?.mode === 'fixed' ? { ...held, arp: { ...held.arp, y: 0 } } : held
      },
    }),
  ],
  [
    'is not said to be a base',
    /as a base: it is no configured base/,
    (right) => ({
      get mode() {
        return right.mode === 'fixed' ? 'unknown' : right.mode
      },
    }),
  ],
  [
    'announces another position',
    /as a base: no RTCM leaves the station/,
    (right) => ({
      onRtcm: one((frame) => (frame.type === 1005 ? { ...frame, bytes: moved(frame.bytes) } : frame), right.onRtcm),
    }),
  ],
  [
    'sends damaged RTCM',
    /sends RTCM 1005 with a wrong CRC/,
    (right) => ({
      onRtcm: one((frame) => {
        if (frame.type !== 1005 || right.mode !== 'fixed') return frame
        const bytes = frame.bytes.slice()
        bytes[7] ^= 1
        return { ...frame, bytes }
      }, right.onRtcm),
    }),
  ],
  [
    'numbers RTCM wrongly',
    /sends RTCM 1074 as 1077/,
    (right) => ({ onRtcm: one((frame) => (frame.type === 1074 ? { ...frame, type: 1077 } : frame), right.onRtcm) }),
  ],
  [
    'has a clock of its own',
    /sends a fix with an arrival_ms that is not a time of now/,
    (right) => ({ onFix: one((fix) => ({ ...fix, arrival_ms: Date.now() }), right.onFix) }),
  ],
  [
    'has a fix without a position',
    /sends a fix with a position that is not finite/,
    (right) => ({ onFix: one((fix) => ({ ...fix, lat: Number.NaN }), right.onFix) }),
  ],
  [
    'takes an unknown accuracy for 0',
    /sends an accuracy of 0/,
    (right) => ({ onFix: one((fix) => ({ ...fix, acc_m: 0 }), right.onFix) }),
  ],
  [
    'has satellites without direction',
    /an azimuth or elevation that is no direction/,
    (right) => ({
      onSatellites: one(
        (epoch) => ({ ...epoch, satellites: epoch.satellites.map((one) => ({ ...one, elevation_deg: 255 })) }),
        right.onSatellites,
      ),
    }),
  ],
  [
    'sends another station ID',
    /sends station ID \d+, which its stationId is not/,
    (right) => ({
      get stationId() {
        return right.stationId + 1
      },
    }),
  ],
  [
    'sends what it does not claim',
    /sends spoofing, which is not in can\.reports/,
    (right) => ({
      get can() {
        return (
          right.can && {
            ...right.can,
            reports: new Set<ReceiverReport>([...right.can.reports].filter((name) => name !== 'spoofing')),
          }
        )
      },
    }),
  ],
  [
    'claims what it does not send',
    /can\.reports has second-fix, which did not come/,
    (right) => ({
      get can() {
        return right.can && { ...right.can, reports: new Set<ReceiverReport>([...right.can.reports, 'second-fix']) }
      },
    }),
  ],
  [
    'claims a descriptor',
    /no 1008 or 1033 came/,
    (right) => ({
      get can() {
        return right.can && { ...right.can, antennaDescriptor: true }
      },
    }),
  ],
  [
    'sends in another interval than it can',
    /intervals_s\.observations is 7/,
    () => ({ intervals_s: { observations: 7, reference: 1 } }),
  ],
  [
    'claims a choice that it ignores',
    /a choice: output\.msm is undefined after gnss-msm 7; a choice: it sends 1074 after gnss-msm 7/,
    (right) => ({
      get can() {
        return right.can && { ...right.can, output: new Set(['msm' as const]) }
      },
    }),
  ],
  [
    'does not see a short circuit',
    /an antenna that is short is ok for the station/,
    (right) => ({
      onAntenna: one(
        (reading) => (reading.status === 'short' ? { ...reading, status: 'ok' } : reading),
        right.onAntenna,
      ),
    }),
  ],
  [
    'makes an open line up',
    /while it is not there|an antenna that is ok is open/,
    (right) => ({ onAntenna: one((reading) => ({ ...reading, status: 'open' }), right.onAntenna) }),
  ],
  [
    'does not see interference',
    /jammed is false, not true/,
    (right) => ({
      onInterference: one((bands) => bands.map((band) => ({ ...band, jamming: 'ok' as const })), right.onInterference),
    }),
  ],
  [
    'does not see spoofing',
    /spoofed is false, not true/,
    (right) => ({ onSpoofing: one(() => 'none' as const, right.onSpoofing) }),
  ],
  [
    'hides a restart',
    /a restart: configured does not turn false/,
    (right) => {
      let was = false
      return {
        get configured() {
          was ||= right.configured
          return was
        },
      }
    },
  ],
  [
    'accepts what it does not do',
    /a refusal: configure resolves/,
    (right) => ({
      configure: (target) =>
        right.link === 'up'
          ? right.configure(target).catch(() => ({ written: 1, refused: [] }))
          : right.configure(target),
    }),
  ],
  [
    'is configured while it is away',
    /unplugged: configured is still true/,
    (right) => {
      let was = false
      return {
        get configured() {
          was = right.link === 'up' ? right.configured : was
          return was
        },
      }
    },
  ],
]

function moved(bytes: Uint8Array): Uint8Array {
  const message = decodeRtcm(bytes)
  return message?.type === 1005 ? encodeRtcm({ ...message, x: message.x + 1 }) : bytes
}

for (const [what, complaint, change] of wrongs.filter((_, index) => index % sample(wrongs.length, 1, 6) === 0)) {
  t.test(`a receiver that ${what} does not stand it`, async (t) => {
    await t.rejects(check(wrong(change), script()), { message: complaint })
  })
}

t.test('neither does a reload that forgets, nor a device that lacks what is claimed', { skip: gateOnly }, async (t) => {
  const plain = replayed as unknown as Definition
  let starts = 0
  const once: Definition = {
    ...plain,
    start: (ctx, handoff, state) => (starts++ > 0 ? undefined : plain.start?.(ctx, handoff, state)),
  }
  await t.rejects(check(once, script()), {
    message: /a reload: identity is .*a reload: no RTCM leaves the station after a reload/,
  })
  const { jam, restart, ...poor } = replayedDevice()
  await t.rejects(check(replayed, script(), poor), {
    message: /the device has no jam\(\).*a restart: the device has no restart\(\)/,
  })
})
