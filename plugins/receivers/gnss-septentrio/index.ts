import { receiverPlugin } from 'rtk-base/link'
import { Type } from 'typebox'
import { SeptentrioReceiver } from './septentrio.js'

const Login = (what: string) =>
  Type.String({
    default: '',
    maxLength: 64,
    pattern: '^[^\\s,]*$',
    description: `${what}, if the receiver wants a login`,
  })

/** A Septentrio mosaic-X5 or mosaic-G5 as the station's receiver. */
export default receiverPlugin({
  name: 'gnss-septentrio',
  version: '1.0.0',
  port: {
    default: '/dev/ttyACM0',
    what: 'its USB, if no other device takes that name',
  },
  bauds: [115_200, 921_600, 460_800, 230_400],
  own: { user: Login('User'), password: Login('Password') },
  create: (ctx, line, driver, { user, password }) => new SeptentrioReceiver(ctx, line, driver, { user, password }),
})
