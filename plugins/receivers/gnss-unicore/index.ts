import { receiverPlugin } from 'rtk-base/link'
import { UnicoreReceiver } from './unicore.js'

/** A Unicore UM980, UM981 or UM982 as the station's receiver. */
export default receiverPlugin({
  name: 'gnss-unicore',
  version: '1.0.0',
  port: { default: '/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0', what: 'the CH340 of many boards' },
  bauds: [115_200, 460_800, 921_600, 230_400],
  own: {},
  create: (ctx, line, driver) => new UnicoreReceiver(ctx, line, driver),
})
