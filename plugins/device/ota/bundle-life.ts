import { mostTries, type PluginContext } from 'rtk-base/plugin'
import { type BundleInstaller, device } from 'rtk-base/services'
import { Health } from './health.js'
import { endOf, type ImageTrial, look_ms } from './image-trial.js'
import type { UpdateMemory } from './memory.js'
import type { StationSigns } from './signs.js'
import type { Updates } from './updates.js'

export interface BundleLife {
  installer: BundleInstaller
  /** Aborts when this installer goes. */
  signal: AbortSignal
  memory: UpdateMemory
  signs: StationSigns
  updates: Updates
  trial: ImageTrial
  hold_ms: number
  /** Puts the running version on trial, once. */
  begin(trial: ImageTrial): Promise<void>
  /** This plugin or the installer was loaded again in the same process. */
  isReload: boolean
}

/** Determines the running slot and the result of the last update, as soon as the installer knows. Never rejects. */
export async function followBundles(ctx: PluginContext, life: BundleLife): Promise<void> {
  await life.installer.ready()
  if (life.signal.aborted) return
  life.updates.progress.look()
  try {
    await judge(ctx, life)
  } catch (error) {
    ctx.log.error({ err: error }, `how the last update ended could not be found out: ${(error as Error).message}`)
  }
}

async function judge(ctx: PluginContext, life: BundleLife): Promise<void> {
  const { installer, signal, memory, updates, trial, begin, isReload } = life
  const { bootId, lastEnd } = ctx.services.use(device)
  let pending = await memory.pending()
  if (pending?.slot === installer.running) {
    if (pending.verdict) return trial.giveUp(pending.verdict)
    await begin(trial)
    // The boot loader only counts the starts of the machine.
    const starts = isReload ? 0 : await memory.started()
    if (starts > mostTries)
      await trial.giveUp(`it ended ${mostTries} times before it was confirmed: ${lastEnd?.text ?? ''}`)
    return
  }
  if (pending && pending.boot === bootId) {
    // The service was started again, the machine not yet.
    const progress = (percent: number) => updates.progress.show('installing', percent)
    if (!pending.installed && (await installer.follow({ signal, progress }))) {
      await memory.installed()
      pending = await memory.pending()
    }
    if (pending?.installed) return updates.restartSoon()
  }
  if (pending) {
    const end = endOf(pending, lastEnd, pending.installed === true)
    updates.progress.showGivenUp(end)
    await memory.end(end)
  }
  keepBooted(ctx, life)
}

/** The boot loader counts each start until it is marked as good: also those that no update has caused. */
function keepBooted(ctx: PluginContext, { installer, signal, signs, hold_ms }: BundleLife): void {
  const limits = { clock: ctx.clock, hold_ms, limit_ms: Number.POSITIVE_INFINITY }
  const health = new Health({ rtcm: false, broker: false }, limits)
  const stop = ctx.timers.every(look_ms, async () => {
    if (signal.aborted) return void stop()
    const verdict = health.look(await signs.now())
    ctx.log.debug({ verdict: verdict.kind }, 'looked at this start')
    if (verdict.kind !== 'good') return
    try {
      await installer.confirm()
      await stop()
    } catch (error) {
      ctx.log.warn(
        { err: error },
        `this start could not be marked as good: ${(error as Error).message}; it is tried again`,
      )
    }
  })
}
