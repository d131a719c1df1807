import { join } from 'node:path'
import { disk } from 'rtk-base/files'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { type RouterFirmware, routerErrors, updateErrors } from 'rtk-base/services'
import type { Performer } from './operations/performer.js'
import type { Router } from './router.js'
import { limits_ms, type Outcome, type Transport } from './transport/call.js'
import { RestTransport } from './transport/rest.js'

const mostBytes = 96 * 1_048_576
const folder = 'firmware'
const stalled_ms = 60_000
const upload = '/api/firmware/actions/upload_device_firmware'
const boundary = 'rtk-base-firmware-image'

/** Updates of the router's firmware, one at a time. */
export function firmwareService(ctx: PluginContext, router: Router): RouterFirmware {
  let isRunning = false
  return {
    async install(url, signal = ctx.signal) {
      if (isRunning) throw new RtkError(updateErrors.RTK_ERR_UPDATE_RUNNING, 'an update of the router is running')
      isRunning = true
      try {
        // Asks for the state first: nothing is fetched for a router that is away.
        await router.link.perform('system', undefined, { signal, patience_ms: 15_000 })
        const isRest = router.connected?.transport.kind === 'rest'
        const path = isRest ? await fetchImage(ctx, url, signal) : undefined
        await router.link.turn(
          'installFirmware',
          (performer, both, transport) => install(performer, transport, url, path, both),
          { signal },
        )
        router.link.restarts('its firmware is updated')
        return 'the router has checked the image and restarts into it; that takes some minutes'
      } finally {
        // The next update may only start once this image is deleted.
        await clearImages(ctx).finally(() => {
          isRunning = false
        })
      }
    },
  }
}

async function install(
  performer: Performer,
  transport: Transport,
  url: string,
  path: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (path === undefined || !(transport instanceof RestTransport)) {
    await performer.perform('installFirmware', { url }, signal)
    return
  }
  accepted('upload', await transport.upload(upload, await formOf(path), limits_ms.scan, signal))
  const verify = { verb: 'POST', path: '/api/firmware/actions/verify', limit_ms: limits_ms.scan } as const
  const upgrade = {
    verb: 'POST',
    path: '/api/firmware/actions/upgrade',
    data: { keep_settings: '1' },
    limit_ms: limits_ms.scan,
  } as const
  for (const call of [verify, upgrade]) {
    const [outcome] = await transport.call([call], false, signal)
    accepted(call.path, outcome)
  }
}

/** @throws RTK_ERR_ROUTER_REFUSED */
function accepted(step: string, outcome: Outcome | undefined): void {
  if (outcome?.ok) return
  throw new RtkError(
    routerErrors.RTK_ERR_ROUTER_REFUSED,
    `the image was not accepted (${step}): ${outcome?.text ?? 'no answer'}`,
  )
}

/** Removes leftovers of an update, also after a power failure. */
export async function clearImages(ctx: Pick<PluginContext, 'dataDir'>): Promise<void> {
  const { path } = imageDir(ctx)
  for (const name of await disk.readdir(path)) await disk.rm(join(path, name), { force: true })
}

const imageDir = (ctx: Pick<PluginContext, 'dataDir'>) => ctx.dataDir(folder, { quota_bytes: mostBytes })

/** The image on the station's disk. The time limit is that of a pause in the download, not of the whole. @throws RTK_ERR_FETCH_…, RTK_ERR_DATA_QUOTA */
async function fetchImage(ctx: PluginContext, url: string, signal: AbortSignal): Promise<string> {
  const dir = imageDir(ctx)
  const response = await ctx.fetch(url, { maxBytes: mostBytes, redirects: 5, timeout_ms: stalled_ms, signal })
  if (!response.ok || response.body === null) {
    throw new RtkError('RTK_ERR_FETCH_ANSWER', `the image could not be fetched: HTTP status ${response.status}`)
  }
  await dir.ensureRoom(Number(response.headers.get('content-length') ?? 0))
  const path = join(dir.path, 'image')
  await disk.rm(path, { recursive: true, force: true })
  const file = await disk.open(path, 'wx', 0o600)
  try {
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) await file.write(piece)
  } finally {
    await file.close()
  }
  return path
}

/** `multipart/form-data` streamed from the disk. */
async function formOf(path: string): Promise<Blob> {
  const field = (name: string, value: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="firmware.bin"\r\ncontent-type: application/octet-stream\r\n\r\n`
  const parts = [field('keep_settings', '1'), head, await disk.openAsBlob(path), `\r\n--${boundary}--\r\n`]
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` })
}
