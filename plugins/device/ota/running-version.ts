/** At a start: whether the running version is on trial, and how the last update ended. */
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import { type BundleInstaller, bundleInstaller, device } from 'rtk-base/services'
import { followBundles } from './bundle-life.js'
import { endOf, ImageTrial } from './image-trial.js'
import type { Installer } from './installer.js'
import type { UpdateMemory } from './memory.js'
import type { StationSigns } from './signs.js'
import type { Slots } from './slots/index.js'
import type { Updates } from './updates.js'

interface State {
  readonly memory: UpdateMemory
  readonly signs: StationSigns
  readonly updates: Updates
  readonly limits: { readonly hold_ms: number; readonly limit_ms: number }
  bundles(): BundleInstaller | undefined
  /** The slots of the image; undefined: it runs without them. */
  open(): Slots | undefined
  /** Of the running version. */
  trial: ImageTrial | undefined
}

/** Of the instance before a reload. */
interface Before {
  readonly trialBegun_ms: number | undefined
  /** undefined: the process has just started. */
  readonly wasRebooting: boolean | undefined
}

export async function judgeRunning(ctx: PluginContext, state: State, before: Before): Promise<void> {
  const { memory, signs, updates, bundles, limits } = state
  const slots = state.open()
  const progress = (percent: number) => updates.progress.show(percent < 100 ? 'verifying' : 'idle', percent)
  const trialBy = (installer: () => Installer) =>
    new ImageTrial(ctx, { installer, memory, signs, ...limits, progress }, before.trialBegun_ms)
  const begin = async (trial: ImageTrial) => {
    if (state.trial) return
    state.trial = trial
    updates.progress.show('verifying', 0)
    updates.progress.look()
    await trial.start()
  }
  let isReload = before.wasRebooting !== undefined
  const bundleTrial = trialBy(() => {
    const installer = bundles()
    if (!installer) throw unavailable('the plugin that installs versions is not running')
    return installer
  })
  ctx.services.watch(bundleInstaller, (installer) => {
    if (!installer) return
    const gone = new AbortController()
    const { signal } = gone
    const life = { ...limits, installer, signal, memory, signs, updates, trial: bundleTrial, begin, isReload }
    isReload = true
    // An installer that does not answer holds nothing up.
    void followBundles(ctx, life)
    return () => gone.abort()
  })
  if (bundles() || !slots) return
  // The restart that this plugin was about to make.
  if (before.wasRebooting) return updates.restartSoon()
  const trial = trialBy(() => slots)
  if (ctx.services.use(device).onTrial) await begin(trial)
  else if (before.wasRebooting === undefined) await lookBack(ctx, { slots, memory, updates, trial })
}

/** At the first start of a process: the result of the last update. */
async function lookBack(
  ctx: PluginContext,
  { slots, memory, updates, trial }: { slots: Slots; memory: UpdateMemory; updates: Updates; trial: ImageTrial },
): Promise<void> {
  try {
    const pending = await memory.pending()
    // Another installer's, which tells its end when it is there.
    if (pending?.boot !== undefined) return
    // Confirmed, and then the power went.
    if (pending?.slot === slots.running) return await trial.settle()
    const givenUp = await slots.givenUp()
    if (!pending && !givenUp) return
    const end = endOf(pending, ctx.services.use(device).lastEnd, givenUp !== undefined)
    updates.progress.showGivenUp(end)
    await memory.end(end)
    if (givenUp) await slots.reported()
  } catch (error) {
    ctx.log.error({ err: error }, `how the last update ended could not be stored: ${(error as Error).message}`)
  }
}
