/** Where the frames of a neighbour come from: a mountpoint of a caster, or a topic of the station's own broker. */
import { Framer, largestPublication_bytes } from 'rtk-base/gnss'
import { Budget, rates } from 'rtk-base/link'
import { MountStream } from 'rtk-base/ntrip'
import type { MqttMessage, PluginContext } from 'rtk-base/plugin'
import { type Ecef, mqttLink } from 'rtk-base/services'
import { isNtrip, type NeighbourSetting, nameOf } from './setting.js'

export type LinkState = 'connecting' | 'streaming' | 'waiting'

export interface Feed {
  start(): void
  stop(): void
  /** @param isSilent nothing came in time */
  state(isSilent: boolean): { readonly state: LinkState; readonly text: string }
  /** A message of the broker on the neighbour's topic. */
  message?(message: Pick<MqttMessage, 'payload' | 'retain'>): void
}

export interface FeedEvents {
  frame(bytes: Uint8Array): void
  /** Where this station is, for casters that ask for it. */
  here(): Ecef | undefined
}

export const feedOf = (ctx: PluginContext, setting: NeighbourSetting, events: FeedEvents): Feed =>
  isNtrip(setting) ? ntripFeed(ctx, setting, events) : mqttFeed(ctx, events)

function ntripFeed(
  ctx: PluginContext,
  setting: NeighbourSetting & { host: string },
  { frame, here }: FeedEvents,
): Feed {
  const stream = new MountStream(ctx, `neighbours ${nameOf(setting)}`, { wanted: () => true, here, frame })
  return {
    start: () => stream.start(setting),
    stop: () => stream.stop(),
    state() {
      const { state, text } = stream.block()
      return { state: state === 'off' || state === 'idle' ? 'waiting' : state, text }
    },
  }
}

function mqttFeed(ctx: PluginContext, { frame }: FeedEvents): Feed {
  const budget = new Budget(rates.dialledRate, ctx.clock.monotonic())
  let text = ''
  const framer = new Framer({
    onFrame: ({ kind, bytes }) => {
      if (kind === 'rtcm') frame(bytes)
    },
  })
  return {
    start() {},
    stop() {},
    state(isSilent) {
      if (!isSilent) return { state: 'streaming', text }
      const isUp = ctx.services.find(mqttLink)?.up === true
      return { state: 'waiting', text: isUp ? 'the broker delivers nothing' : 'the link to the broker is down' }
    },
    message({ payload, retain }) {
      // A retained message may be of any age.
      if (retain) return
      const now_ms = ctx.clock.monotonic()
      const isHuge = payload.length > largestPublication_bytes
      if (isHuge || !budget.admits(payload.length, now_ms)) {
        text = isHuge ? 'messages of more than 64 KiB are ignored' : 'more than 128 KiB a second: the rest is ignored'
        return
      }
      text = ''
      framer.push(payload, now_ms)
      // A message has whole frames.
      framer.flush()
    },
  }
}
