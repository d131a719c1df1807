import { definePlugin } from 'rtk-base/plugin'
import { device, reception, station, verdict } from 'rtk-base/services'
import { Type } from 'typebox'
import { buttons, entities, nameOf, stateOf } from './entities.js'

/** MQTT discovery for Home Assistant (its device discovery of 2024.11 and later): the base appears there automatically. */
export default definePlugin({
  name: 'home-assistant',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [station, device],
  options: Type.Object(
    {
      prefix: Type.String({
        default: 'homeassistant',
        pattern: '^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$',
        maxLength: 64,
        description: 'Discovery prefix of Home Assistant',
      }),
      interval_s: Type.Integer({ default: 30, minimum: 5, maximum: 3_600, description: 'Seconds between two states' }),
      url: Type.String({
        default: '',
        maxLength: 200,
        description: 'Address of the station’s page, for its link there; empty: none',
      }),
    },
    { additionalProperties: false },
  ),

  setup(ctx, { prefix = 'homeassistant', interval_s = 30, url = '' }) {
    const topics = { state: `base/${ctx.serial}/home-assistant`, base: `base/${ctx.serial}` }
    const id = `rtk_base_${ctx.serial.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`

    const description = (name: string) => {
      const { version, hardware } = ctx.services.use(device)
      const common = (key: string, name: string) => ({ name, unique_id: `${id}_${key}` })
      const sensors = Object.entries(entities).map(([key, { name, platform, facts, on }]) => {
        const value = on
          ? `{{ 'None' if value_json.${key} is none else 'ON' if value_json.${key} in ${JSON.stringify(on)} else 'OFF' }}`
          : `{{ value_json.${key} }}`
        return [key, { platform, ...common(key, name), value_template: value, ...facts }]
      })
      const pressed = Object.entries(buttons).map(([command, name]) => {
        const to = { command_topic: `${topics.base}/cmd`, payload_press: command }
        return [command, { platform: 'button', ...common(command, name), ...to }]
      })
      return {
        device: {
          identifiers: [id],
          name: name || `Base ${ctx.serial}`,
          manufacturer: 'rtk-base',
          model: hardware,
          serial_number: ctx.serial,
          sw_version: version,
          ...(url && { configuration_url: url }),
        },
        origin: { name: 'rtk-base', sw_version: version },
        state_topic: topics.state,
        availability: [
          {
            topic: `${topics.base}/online`,
            value_template: "{{ 'online' if value in ['y', 'r'] else 'offline' }}",
          },
        ],
        components: Object.fromEntries([...sensors, ...pressed]),
      }
    }
    const configTopic = `${prefix}/device/${id}/config`
    ctx.mqtt.describe({
      address: configTopic,
      from: 'station',
      summary: 'Introduces the base to Home Assistant: its device discovery',
      payload: Type.Record(Type.String(), Type.Unknown()),
      retain: true,
    })
    ctx.mqtt.describe({
      address: 'base/{SN}/home-assistant',
      from: 'station',
      summary: 'The values that Home Assistant shows, every interval_s',
      payload: Type.Record(Type.String(), Type.Unknown()),
    })
    let introduced = ''
    const tellState = () => {
      const { services } = ctx
      const document = services.use(station).document()
      // Loaded while the link is already up, reloaded with other options, or renamed.
      const text = JSON.stringify(description(nameOf(document)))
      if (introduced !== text) {
        const isSent = ctx.mqtt.publish(configTopic, text, { retain: true }) === 'sent'
        introduced = isSent ? text : ''
      }
      const now = {
        document,
        verdict: services.find(verdict)?.verdict,
        reception: services.find(reception),
      }
      ctx.mqtt.publish(topics.state, JSON.stringify(stateOf(now)))
    }
    ctx.hooks.onMqttConnect.tap(() => {
      introduced = ''
      tellState()
    })
    return { tellState, interval_s, configTopic }
  },

  start(ctx, _handoff, { tellState, interval_s }) {
    ctx.timers.every(interval_s * 1_000, tellState)
  },

  stop(reason, { configTopic }, ctx) {
    // An empty description removes the device from Home Assistant; it would stay there for good, with values that never change.
    if (reason === 'remove') ctx.mqtt.publish(configTopic, '', { retain: true })
  },
})
