import { definePlugin } from 'rtk-base/plugin'
import { device, httpRoutes, metrics, mqttTopics, station as stationToken, updateErrors } from 'rtk-base/services'
import { addFirmwareRoutes } from './firmware.js'
import { addDirectory, addReadings } from './readings.js'
import { addActions, addStorage } from './requests.js'

/** The HTTP surface of the specification. Every route is a thin face of the station's own operations. */
export default definePlugin({
  name: 'http-api',
  version: '1.0.0',
  api: '^1.0.0',
  errors: updateErrors,
  needs: [stationToken, metrics, device, httpRoutes, mqttTopics],

  setup(ctx) {
    const station = () => ctx.services.use(stationToken)
    ctx.banner('document', () => 'curl {http}/get-info')
    addReadings(ctx, station)
    addActions(ctx, station)
    addStorage(ctx, station)
    addFirmwareRoutes(ctx)
    addDirectory(ctx, station)
  },
})
