import { driverPlugin } from 'rtk-base/link'
import { baudsToTry, ZedOptions } from './options.js'
import { ZedReceiver } from './zed.js'

/** The u-blox ZED-F9P and its kind as the station's receiver. */
export default driverPlugin({
  name: 'gnss-zed',
  version: '1.0.0',
  commands: ['reboot-zed', 'reset-zed'],
  options: ZedOptions,
  settings: ({ port, baud, configure, rtcm, pace, loop, delay }) => ({
    port,
    replay: { pace, loop, delay },
    configure,
    bauds: baudsToTry(baud),
    base: {
      msm: rtcm.msm,
      observationInterval_s: rtcm.msmInterval_s,
      referenceInterval_s: rtcm.referenceInterval_s,
      biasInterval_s: rtcm.biasInterval_s,
      elevationMask_deg: undefined,
      constellations: undefined,
    },
  }),

  create(ctx, line, driver, options) {
    const zed = new ZedReceiver(ctx, line, driver, options)
    const block = ctx.info.block('gnss.zed', { static: () => identityOf(zed) })
    ctx.on(zed.onState, () => block.changed())
    ctx.action({
      name: 'reboot-zed',
      summary: 'restarts the u-blox receiver, like reboot-receiver',
      caution: 'RTCM stops for about half a minute.',
      async run() {
        await zed.restart()
        return 'the receiver restarts'
      },
    })
    ctx.action({
      name: 'reset-zed',
      summary: 'deletes the stored configuration of the u-blox receiver and restarts the receiver',
      caution: 'RTCM stops for some minutes, until the receiver has found the satellites again.',
      async run() {
        await zed.reset()
        return 'the configuration of the receiver is deleted, it restarts'
      },
    })
    return zed
  },
})

function identityOf({ identity }: ZedReceiver) {
  const { module, firmware, hardware, software, serial } = identity
  return { module, vfirmware: firmware, vhardware: hardware, vsoftware: software, serial }
}
