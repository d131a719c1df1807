/** A plugin with its own clients: a listener that survives reloads, metrics, files, programs, an HTTP client. */
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Connection, type DataDir, definePlugin, type Listener, unavailable } from 'rtk-base/plugin'
import { logs, type RtcmStream, rtcmStream } from 'rtk-base/services'
import { Type } from 'typebox'

/** The folder of recordings holds this much; then the recording ends. */
const quota_bytes = 16 * 1024 * 1024

export default definePlugin({
  name: 'rtcm-tap',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [rtcmStream],
  options: Type.Object({ host: Type.String({ default: '127.0.0.1' }) }),

  setup(ctx, { host }) {
    const port = ctx.config.define('tap-port', Type.Integer({ minimum: 0, maximum: 65_535 }), { default: 2103 })
    const report = ctx.config.define('tap-report-url', Type.String({ maxLength: 512, pattern: '^(https?://.*)?$' }), {
      default: '',
    })
    const state = { host, port, warnings: 0, listener: undefined as Listener | undefined, post }
    async function post(): Promise<void> {
      const stream = ctx.services.find(rtcmStream)
      if (report.get() === '' || !stream) return
      const body = JSON.stringify({ station: ctx.serial, open: stream.open, reason: stream.reason?.text ?? '' })
      await ctx.fetch(report.get(), { method: 'POST', body, timeout_ms: 5_000 })
    }
    ctx.config.onChange([port.name], () => state.listener?.move({ port: port.get() }))
    ctx.config.onChange([report.name], post)
    ctx.info.block('tap', () => ({
      port: state.listener?.address?.port ?? 0,
      clients: state.listener?.connections ?? 0,
      warnings: state.warnings,
    }))
    ctx.banner('RTCM', () => (state.listener?.address ? `TCP port ${state.listener.address.port}` : ''))
    ctx.action({
      name: 'tap-disk',
      summary: 'tap-disk shows the disk that recordings are on',
      reads: true,
      async run() {
        const { path } = ctx.dataDir('recordings', { quota_bytes })
        const { code, stdout, stderr } = await ctx.process.execFile('df', ['-h', path])
        if (code !== 0) throw unavailable(stderr)
        return stdout
      },
    })
    return state
  },

  async start(ctx, _handoff, state) {
    const stream = ctx.services.use(rtcmStream)
    const sent = ctx.metrics.counter({ name: 'tap_frames_total', help: 'Frames written to clients of rtcm-tap.' })

    const serve = (client: Connection) => {
      const subscription = stream.subscribe({
        via: 'tcp',
        name: '',
        ip: client.remoteAddress,
        connected: true,
        take(frame) {
          if (client.bufferedAmount > 65_536) return false
          client.write(frame.bytes)
          sent.inc()
          return true
        },
      })
      client.onDrain(() => subscription.resume())
      client.onClose(() => subscription.close())
      // Nothing has to be known of a client: the next version serves it as a new one, on the same connection.
      client.inheritable(() => ({}))
    }
    const { host, port } = state
    const address = { host, port: port.get(), setting: port.name }
    state.listener = ctx.net.listen({ name: 'clients', ...address, inherits: true }, serve)

    ctx.on(stream.onState, state.post)
    ctx.services.watch(logs, (log) => {
      return (
        log &&
        ctx.on(log.onLine, ({ level }) => {
          if (level >= 40) state.warnings += 1
        })
      )
    })
    record(stream, ctx.dataDir('recordings', { quota_bytes }), (fn) => ctx.timers.every(60_000, fn))
  },
})

/** Writes down once a minute what a rover needs to know of the reference: for whoever looks into the folder later. */
function record(stream: RtcmStream, folder: DataDir, everyMinute: (fn: () => Promise<void>) => void): void {
  everyMinute(async () => {
    const bytes = Buffer.concat(stream.reference().map((frame) => frame.bytes))
    if (bytes.length === 0) return
    await folder.ensureRoom(bytes.length)
    await appendFile(join(folder.path, 'reference.rtcm3'), bytes)
  })
}
