import { pause, systemBus } from 'rtk-base/link'
import { definePlugin, type PluginContext } from 'rtk-base/plugin'
import { bundleInstaller, device, updateErrors } from 'rtk-base/services'
import { Backoff } from 'rtk-base/time'
import { Type } from 'typebox'
import { Rauc } from './rauc.js'

const Options = Type.Object(
  {
    bus: Type.String({
      default: '',
      pattern: '^(|(unix|tcp):.+)$',
      description: 'D-Bus address of RAUC; empty: DBUS_SYSTEM_BUS_ADDRESS, else the system bus of the machine',
    }),
  },
  { additionalProperties: false },
)

/** Installer of the plugin ota for systems that RAUC updates: whole file systems, started by the boot loader. */
export default definePlugin({
  name: 'ota-rauc',
  version: '1.0.0',
  api: '^1.0.0',
  errors: updateErrors,
  needs: [device],
  provides: [bundleInstaller],
  options: Options,

  setup(ctx, { bus = '' }) {
    const rauc = new Rauc(ctx, bus || systemBus())
    ctx.services.provide(bundleInstaller, rauc)
    return rauc
  },

  async start(ctx, _handoff, rauc) {
    // A bus that does not answer holds nothing up.
    void findUntilFound(ctx, rauc)
  },
})

async function findUntilFound(ctx: PluginContext, rauc: Rauc): Promise<void> {
  const waits = new Backoff({ first_ms: 1_000, longest_ms: 60_000 })
  while (!(await find(ctx, rauc))) await pause(ctx.timers, waits.next())
}

async function find(ctx: PluginContext, rauc: Rauc): Promise<boolean> {
  try {
    await rauc.find()
    ctx.errors.while('update-rauc', false)
    return true
  } catch (error) {
    ctx.errors.while('update-rauc', { reason: (error as Error).message })
    return false
  }
}
