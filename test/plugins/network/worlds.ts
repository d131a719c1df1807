/** Two machines with one language (`sim-network`): the simulated one, and NetworkManager as python-dbusmock has it. */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Test } from 'tap'
import { drive } from '../../harness/drive.js'
import { busFor, Peer, python } from '../../harness/peers/dbus.js'
import { type Rig, startRig } from './rig.js'

export interface World extends Rig {
  /** What happens to the machine. */
  happens(line: string): void
  /** The daemon answers nothing, or answers again. */
  silent(is: boolean): void
  daemon(isOn: boolean): Promise<void>
  /** The clock goes on until it is so. */
  reach(condition: () => unknown, what: string): Promise<void>
  /** The clock goes on until the call ends. */
  during<T>(call: Promise<T>): Promise<T>
}

const step_ms = 100

/**
 * The clock stands while the daemon works.
 * @param pause_ms real time of each step: a daemon with timers of its own sleeps until they are due
 */
function clocked({ clock }: Rig, pause_ms = 0): Pick<World, 'reach' | 'during'> {
  const reach: World['reach'] = async (condition, what) => {
    const isReached = async () => {
      if (condition() || pause_ms === 0) return condition()
      await new Promise((resolve) => setTimeout(resolve, pause_ms))
      return condition()
    }
    await drive(clock, isReached, what, step_ms)
  }
  return {
    reach,
    async during(call) {
      let isOver = false
      const over = () => {
        isOver = true
      }
      call.then(over, over)
      await reach(() => isOver, 'the end of the call')
      return call
    },
  }
}

export async function simulatedWorld(t: Test): Promise<World> {
  const networks = [
    { ssid: 'workshop', password: 'correct-horse', channel: 6, rssi: -52 },
    { ssid: 'guests', channel: 11, rssi: -70 },
  ]
  const rig = await startRig(t, { options: { simulator: { networks } } })
  return {
    ...rig,
    ...clocked(rig),
    happens: (line) => void rig.sim.command(line),
    silent: (is) => void rig.sim.command(`slow ${is ? 60 : 'off'}`),
    daemon: async (isOn) => void rig.sim.command(`daemon ${isOn ? 'on' : 'off'}`),
  }
}

const template = join(process.cwd(), 'test', 'plugins', 'network', 'networkmanager_mock.py')

export interface MockedWorld extends World {
  bus: Awaited<ReturnType<typeof busFor>>
  /** A question to the mock itself. */
  asked(method: string): string
}

export async function mockedWorld(t: Test): Promise<MockedWorld> {
  const bus = await busFor(t)
  const env = { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: bus.address }
  const start = () =>
    spawn(python, ['-m', 'dbusmock', '--system', '--template', template], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  const ask = (method: string, ...args: string[]) => {
    const target = ['--dest=org.freedesktop.NetworkManager', '/org/freedesktop', `org.freedesktop.DBus.Mock.${method}`]
    const { status, stdout, stderr } = spawnSync('dbus-send', ['--system', '--print-reply', ...target, ...args], {
      env,
    })
    if (status !== 0) throw new Error(`${method} ${args}: ${stderr}`)
    return String(stdout)
  }
  const mock = new Peer(t, start)
  const rig = await startRig(t, { options: { backend: 'networkmanager', bus: bus.address } })
  const time = clocked(rig, step_ms / 2)
  await time.reach(() => rig.network.ready, 'the daemon answers')
  return {
    ...rig,
    ...time,
    bus,
    happens: (line) => void ask('Do', `string:${line}`),
    asked: (method) => /string "([\s\S]*)"/.exec(ask(method))?.[1] ?? '',
    silent: (is) => void mock.child.kill(is ? 'SIGSTOP' : 'SIGCONT'),
    async daemon(isOn) {
      if (isOn) mock.start()
      else await mock.stop('SIGKILL')
    },
  }
}
