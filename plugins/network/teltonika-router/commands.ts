import { badValue, type PluginContext, unavailable } from 'rtk-base/plugin'
import { station } from 'rtk-base/services'
import { Type } from 'typebox'
import { labelText, type RouterLabel } from './credentials/label.js'
import { readEverything } from './report.js'
import type { Router } from './router.js'
import { confirmationOf } from './transport/certificate.js'

/** The `/system` commands of the plugin, beside its console group. */
export function addCommands(ctx: PluginContext, router: Router): void {
  ctx.action({
    name: 'reboot-router',
    summary: 'restarts the router',
    caution: 'The internet connection is lost for one to two minutes.',
    run: async ({ signal }) => {
      await router.reboot(signal)
      return 'the router restarts; it is back in one to two minutes'
    },
  })
  ctx.action({
    name: 'factory-router',
    summary: 'resets the router to its factory settings',
    caution: 'All settings of the router are permanently deleted.',
    run: async ({ signal }) => {
      await router.factory(signal)
      return 'the router goes back to its factory settings and restarts; its password is the one of its label then'
    },
  })
  for (const maker of ['vendor', 'teltonika']) {
    const isOther = maker !== 'vendor'
    ctx.action({
      name: `pull-${maker}-data`,
      summary: isOther ? 'same as pull-vendor-data' : 'reads everything from the router now',
      run: ({ signal }) => readEverything(ctx, router, signal),
    })
    ctx.action({
      name: `pair-${maker}-repeater`,
      summary: isOther ? 'same as pair-vendor-repeater' : "makes the router's WiFi the uplink of the station",
      run: ({ signal }) => pairRepeater(ctx, router, signal),
    })
  }
  ctx.action({
    name: 'get-router-qr',
    summary: "shows the text of the router's QR label, which contains passwords",
    run: ({ signal }) => qrText(router, signal),
  })
  ctx.action({
    name: 'router-certificate',
    summary:
      'router-certificate shows the certificate of the router, router-certificate=accept FINGERPRINT confirms a new one',
    input: { answer: Type.Optional(Type.String()) },
    run: ({ input }) => certificate(router, input.answer),
  })
}

/** Hands the router's access point to the plugin that keeps the WiFi uplink. */
async function pairRepeater(ctx: PluginContext, router: Router, signal: AbortSignal): Promise<string> {
  const wap = await router.poll.read('accessPoint', { signal, patience_ms: 15_000 })
  if (wap.ssid === '') throw unavailable('the router has no WiFi access point')
  const values = { 'sta-ssid': wap.ssid, 'sta-pswd': wap.pswd }
  const { result, leftover, errors } = await ctx.services.use(station).change(values, { source: 'plugin' })
  if (result !== 'ok') throw unavailable(`the uplink could not be set: ${errors?.[0]?.message ?? 'refused'}`)
  if ('sta-ssid' in leftover) {
    throw unavailable('sta-ssid and sta-pswd belong to plugin sta, which this station does not run: nothing was paired')
  }
  return `the station uses the WiFi network ${wap.ssid} of the router as its uplink`
}

/** From the lookup server if there is one, otherwise from known values. */
async function qrText(router: Router, signal: AbortSignal): Promise<string> {
  const listed = await router.lookup.find(router.macaddr, signal).catch(() => undefined)
  const label = listed ?? knownLabel(router)
  if (label.macaddr === '' && label.serial === '')
    throw unavailable(`nothing is known of the router yet: ${router.error}`)
  return labelText(label)
}

function knownLabel({ facts, macaddr, credentials }: Router): RouterLabel {
  const [board, wap, modem] = [facts.get('board'), facts.get('accessPoint'), facts.get('modemIdentity')]
  return {
    ssid: wap?.ssid ?? '',
    wifiPswd: wap?.pswd ?? '',
    serial: board?.serial ?? '',
    imei: modem?.imei ?? '',
    macaddr,
    // As printed, also on routers with the login `root`.
    user: 'admin',
    pswd: credentials.pswd,
    batch: board?.hwbatch ?? '',
  }
}

async function certificate(router: Router, arg: string | undefined): Promise<string> {
  const { pinned, waiting } = router.pin
  if (arg === undefined) {
    const shown = pinned?.fingerprint
      ? `${pinned.origin} ${pinned.fingerprint}`
      : 'none: the router is reached over plain HTTP'
    const next =
      waiting &&
      `\nit shows now: ${waiting.origin} ${waiting.fingerprint || '(no https)'}; ${confirmationOf(waiting)} confirms that`
    return `pinned: ${shown}${next ?? ''}`
  }
  const [, seen] = /^accept(?:\s+(\S+))?$/.exec(arg) ?? []
  if (!/^accept(\s|$)/.test(arg))
    throw badValue(`router-certificate takes accept and a fingerprint, not '${arg.slice(0, 40)}'`)
  if (!waiting) throw unavailable('no other certificate than the pinned one was seen: there is nothing to confirm')
  if (!(await router.acceptCertificate(seen ?? ''))) {
    const now = waiting.fingerprint || 'no certificate (plain HTTP)'
    throw badValue(
      `the router shows ${now}: nothing was confirmed. Compare it with that of the router, then send ${confirmationOf(waiting)}`,
    )
  }
  return `confirmed: ${router.pin.pinned?.fingerprint || 'plain HTTP'}; the router is tried at once`
}
