import test from 'node:test'
import { conformance, ManualClock, receiverConformance } from 'rtk-base/testing'
import { simulated } from './simulated.js'

test('meets the requirements of a receiver', async () => {
  const clock = new ManualClock()
  const device = await simulated(clock)
  await receiverConformance('.', device, { options: { port: device.port }, surroundings: { clock } })
})

test('starts, stops, starts again and leaves nothing behind', () => conformance('.', { port: 'tcp://127.0.0.1:9' }))
