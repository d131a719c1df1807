import { receiverPlugin } from 'rtk-base/link'
import { QuectelReceiver } from './quectel.js'

/** A Quectel LG290P as the station's receiver. */
export default receiverPlugin({
  name: 'gnss-quectel',
  version: '1.0.0',
  port: { default: '/dev/serial/by-id/usb-1a86_USB_Dual_Serial-if00', what: 'the CH342 of many boards' },
  bauds: [460_800, 115_200, 921_600, 230_400],
  own: {},
  create: (ctx, line, driver) => new QuectelReceiver(ctx, line, driver),
})
