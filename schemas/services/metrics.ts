/** Provided by the runtime: what the station counts. */
import { defineService } from '../token.js'

/** What the plugins and the runtime count, for Prometheus. */
export interface Metrics {
  /** The exposition format, in one text. */
  text(): Promise<string>
  readonly contentType: string
  /** Counters and histograms begin at zero again: those of every plugin, or of one. */
  reset(plugin?: string): void
}
export const metrics = defineService<Metrics>('metrics')
