import { pause } from 'rtk-base/link'
import { mostTries, type PluginContext } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import { Backoff } from 'rtk-base/time'
import { Health } from '../health.js'
import { type ImageTrial, look_ms, reasonOf } from '../image-trial.js'
import type { UpdateMemory } from '../memory.js'
import type { StationSigns } from '../signs.js'
import type { Updates } from '../updates.js'
import type { Rauc } from './index.js'

const errorCode = 'update-rauc'

export interface RaucLife {
  installer: Rauc
  memory: UpdateMemory
  signs: StationSigns
  updates: Updates
  trial: ImageTrial
  hold_ms: number
  /** Puts the version that runs on trial. */
  begin(): Promise<void>
  /** This plugin was loaded again in the same process. */
  isReload: boolean
}

/** Determines the started slot and the result of the last update. Never rejects. */
export async function followRauc(ctx: PluginContext, life: RaucLife): Promise<void> {
  await untilFound(ctx, life)
  try {
    await judge(ctx, life)
  } catch (error) {
    ctx.log.error({ err: error }, `how the last update ended could not be found out: ${(error as Error).message}`)
  }
}

async function untilFound(ctx: PluginContext, { installer, updates }: RaucLife): Promise<void> {
  const waits = new Backoff({ first_ms: 1_000, longest_ms: 60_000 })
  for (;;) {
    try {
      await installer.find()
      ctx.errors.while(errorCode, false)
      updates.progress.look()
      return
    } catch (error) {
      ctx.errors.while(errorCode, { reason: (error as Error).message })
      await pause(ctx.timers, waits.next())
    }
  }
}

async function judge(ctx: PluginContext, life: RaucLife): Promise<void> {
  const { installer, memory, updates, trial, begin, isReload } = life
  const { bootId, lastEnd } = ctx.services.use(device)
  let pending = await memory.pending()
  if (pending?.slot === installer.running) {
    if (pending.verdict) return trial.giveUp(pending.verdict)
    await begin()
    // The boot loader only counts the starts of the machine.
    const starts = isReload ? 0 : await memory.started()
    if (starts > mostTries)
      await trial.giveUp(`it ended ${mostTries} times before it was confirmed: ${lastEnd?.text ?? ''}`)
    return
  }
  if (pending && pending.boot === bootId) {
    // The service was started again, the machine not yet.
    if (!pending.installed && (await installer.follow((percent) => updates.progress.show('installing', percent)))) {
      await memory.installed()
      pending = await memory.pending()
    }
    if (pending?.installed) return updates.restartSoon()
  }
  if (pending) {
    const text = reasonOf(pending, lastEnd, pending.installed === true)
    ctx.log.error(text)
    updates.progress.showFailure(text)
    await memory.end(text)
  }
  keepBooted(ctx, life)
}

/** The boot loader counts each start until it is marked as good: also those that no update has caused. */
function keepBooted(ctx: PluginContext, { installer, signs, hold_ms }: RaucLife): void {
  const limits = { clock: ctx.clock, hold_ms, limit_ms: Number.POSITIVE_INFINITY }
  const health = new Health({ rtcm: false, broker: false }, limits)
  const stop = ctx.timers.every(look_ms, async () => {
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
