import type { Edges } from './port.js'

/** Resolves after `ms`; never when the plugin is stopped first. */
export function pause(timers: Pick<Edges['timers'], 'after'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    timers.after(ms, resolve)
  })
}
