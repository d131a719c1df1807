import { definePlugin } from 'rtk-base/plugin'
import { topics as described } from 'rtk-base/schemas'
import { device, station } from 'rtk-base/services'
import { ChangeRequests } from './change-requests.js'
import { CommandRequests } from './command-requests.js'
import { LiveMessages } from './live-messages.js'
import { Publications, PublicationsHandoff } from './publications.js'
import { Refusals } from './responses.js'
import { SettingsTopic } from './settings-topic.js'
import { StationStateTopic } from './station-state.js'
import { whenIdentified } from './triggers.js'

/** The MQTT surface of the specification: the status document, commands and changes. The twin of `http-api`. */
export default definePlugin({
  name: 'mqtt-api',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [station, device],

  setup(ctx) {
    const publications = new Publications(ctx)
    const refusals = new Refusals(ctx)
    const commands = new CommandRequests(ctx, refusals)
    const changes = new ChangeRequests(ctx, refusals)
    const settings = new SettingsTopic(ctx)
    const live = new LiveMessages(ctx.log)

    const topics = {
      'base/{SN}/info/get': () => publications.onDemand(),
      'base/{SN}/settings/get': () => settings.onDemand(),
      'base/{SN}/cmd': commands.handle,
      'base/{SN}/change/post': changes.handle,
    }
    for (const [topic, handle] of Object.entries(topics)) ctx.mqtt.on(topic, live.only(handle))
    const { state, info, infoGet, settings: own, settingsGet, cmd, cmdObject } = described
    const { updateBase, changePost, changeResp } = described
    for (const topic of [state, info, infoGet, own, settingsGet, cmd, cmdObject, updateBase, changePost, changeResp])
      ctx.mqtt.describe(topic)
    const stateTopic = new StationStateTopic(ctx)
    // Before the taps of other plugins, which may take 10 s each.
    ctx.hooks.onMqttConnect.tap(() => publications.onConnect(), { stage: -100 })
    ctx.hooks.onMqttConnect.tap(() => stateTopic.onConnect(), { stage: -100 })
    ctx.hooks.onMqttConnect.tap(() => settings.later(), { stage: -100 })

    const counts = () => ({
      missed: publications.missed,
      retained: live.retained,
      malformed: commands.malformed + changes.malformed,
    })
    /** Values at the last reset of the counters. */
    let zero = { missed: 0, retained: 0, malformed: 0 }
    ctx.info.block('mqtt.stat', {
      detail: {
        runtime: () => {
          const { missed, retained, malformed } = counts()
          return {
            missed: missed - zero.missed,
            retained: retained - zero.retained,
            malformed: malformed - zero.malformed,
          }
        },
      },
    })
    const setBack = () => {
      zero = counts()
    }
    return { publications, settings, stateTopic, setBack }
  },

  async start(ctx, handoff, { publications, settings, stateTopic, setBack }) {
    stateTopic.start()
    ctx.on(ctx.services.use(station).onCountersReset, setBack)
    publications.start(handoff.get('publications', PublicationsHandoff))
    if (!publications.identified) whenIdentified(ctx, () => publications.onIdentified())
    await settings.start()
  },

  async stop(reason, { publications, settings, stateTopic }) {
    if (reason === 'remove') {
      stateTopic.remove()
      await settings.remove()
    }
    return [['publications', publications.handoff]]
  },
})
