/**
 * The metrics of prom-client by their own files: its main file also loads a push gateway, a cluster and the default metrics, 11 MB and
 * a tenth of a second that a small machine would pay at every start.
 */
import type * as prom from 'prom-client'
// @ts-expect-error: the package has types for its main file only
import counter from 'prom-client/lib/counter.js'
// @ts-expect-error: the same
import gauge from 'prom-client/lib/gauge.js'
// @ts-expect-error: the same
import histogram from 'prom-client/lib/histogram.js'
// @ts-expect-error: the same
import registry from 'prom-client/lib/registry.js'

export const PromCounter = counter as typeof prom.Counter
export const PromGauge = gauge as typeof prom.Gauge
export const PromHistogram = histogram as typeof prom.Histogram
export const PromRegistry = registry as typeof prom.Registry
export type PromCounter = prom.Counter
export type PromGauge = prom.Gauge
export type PromHistogram = prom.Histogram
export type PromRegistry = prom.Registry
