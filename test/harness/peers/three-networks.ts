import { execFileSync, spawnSync } from 'node:child_process'
import type { Test } from 'tap'
import { noPeer } from './peers.js'

/** A reason to skip what needs network namespaces. Only root may make them, with `CI=true` too. */
export function noNamespaces(): string | false {
  if (process.getuid?.() !== 0) return 'only root may make network namespaces'
  if (noPeer('ip')) return noPeer('ip')
  const probe = `rtk-probe-${process.pid}`
  const made = spawnSync('ip', ['netns', 'add', probe])
  spawnSync('ip', ['netns', 'del', probe])
  return made.status === 0 ? false : `no network namespace can be made here: ${made.stderr}`
}

export type Place = 'station' | 'hostile' | 'polite'

/** A station with two cables: strangers with many addresses at one, a client that behaves at the other. */
export interface ThreeNetworks {
  /** The first words of a command that runs there. */
  prefix(place: Place): [string, ...string[]]
  /** The station, as each side sees it. */
  readonly station: { readonly hostile: string; readonly polite: string }
  /** Addresses of the strangers. */
  readonly strangers: readonly string[]
}

const hostileAddresses = 58

export function threeNetworksFor(t: Test): ThreeNetworks {
  const id = `${process.pid % 100_000}`
  const name = (place: Place) => `rtk-${place}-${id}`
  const ip = (...args: string[]) => void execFileSync('ip', args)
  const places: Place[] = ['station', 'hostile', 'polite']
  t.teardown(() => {
    for (const place of places) spawnSync('ip', ['netns', 'del', name(place)])
  })
  for (const place of places) {
    ip('netns', 'add', name(place))
    ip('-n', name(place), 'link', 'set', 'lo', 'up')
  }
  const cable = (place: Place, net: number, addresses: readonly string[]) => {
    const [near, far] = [`rs${net}${id}`, `rf${net}${id}`]
    ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far)
    ip('link', 'set', near, 'netns', name('station'), 'name', `lan${net}`)
    ip('link', 'set', far, 'netns', name(place), 'name', 'lan')
    ip('-n', name('station'), 'addr', 'add', `10.78.${net}.1/24`, 'dev', `lan${net}`)
    ip('-n', name('station'), 'link', 'set', `lan${net}`, 'up')
    for (const address of addresses) ip('-n', name(place), 'addr', 'add', `${address}/24`, 'dev', 'lan')
    ip('-n', name(place), 'link', 'set', 'lan', 'up')
  }
  const strangers = Array.from({ length: hostileAddresses }, (_, n) => `10.78.0.${n + 10}`)
  cable('hostile', 0, strangers)
  cable('polite', 1, ['10.78.1.2'])
  return {
    prefix: (place) => ['ip', 'netns', 'exec', name(place)],
    station: { hostile: '10.78.0.1', polite: '10.78.1.1' },
    strangers,
  }
}
