import type { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { ownPackages } from '../loader/host-packages.js'

interface Prom {
  Counter: typeof Counter
  Gauge: typeof Gauge
  Histogram: typeof Histogram
  Registry: typeof Registry
}

let loaded: Prom | undefined

/**
 * What is used of prom-client, loaded when somebody counts: by its own files, as its main file also loads a push gateway, a cluster and
 * the default metrics, 11 MB that a small machine would miss.
 */
export function prom(): Prom {
  const load = <T>(file: string) => ownPackages[`prom-client/lib/${file}`]() as T
  loaded ??= {
    Counter: load('counter'),
    Gauge: load('gauge'),
    Histogram: load('histogram'),
    Registry: load('registry'),
  }
  return loaded
}
