/** What people see of a station whose safety is judged: in Home Assistant, and on the page. */

import { pageOf } from '../../../plugins/page/dashboard/ui/model/error-pages.js'
import { guideOf } from '../../../plugins/page/dashboard/ui/model/guide.js'
import { chainOf, firstBroken } from '../../../runtime/lib/page/ui/station/chain.js'
import { listAt, type StationError, verdictOf } from '../../../runtime/lib/page/ui/station/document.js'
import type { MqttBus } from '../../../schemas/services.js'

type Published = Record<string, unknown>

/** Home Assistant behind the bus: entity → what it shows, by the templates of the discovery. */
export function homeAssistantAt(bus: MqttBus) {
  const newest = new Map<string, string>()
  bus.attach({
    publish(topic, payload) {
      newest.set(topic, payload.toString())
      return 'sent'
    },
    subscribe() {},
  })
  const read = (topic: string) => JSON.parse(newest.get(topic) ?? '{}') as Published
  return {
    shows(): Record<string, string> {
      const discovery = [...newest.keys()].find((topic) => /^homeassistant\/device\/.*\/config$/.test(topic)) ?? ''
      const { components = {}, state_topic = '' } = read(discovery) as {
        components?: Record<string, { value_template?: string }>
        state_topic?: string
      }
      const state = read(state_topic)
      return Object.fromEntries(
        Object.entries(components).flatMap(([key, { value_template }]) =>
          value_template === undefined ? [] : [[key, rendered(value_template, state)]],
        ),
      )
    },
  }
}

/** The two forms of template that the discovery has, as Jinja renders them: its word for null is `None`. */
function rendered(template: string, state: Published): string {
  const plain = /^\{\{ value_json\.(\w+) \}\}$/.exec(template)
  if (plain) return String(state[plain[1] ?? ''] ?? 'None')
  const on = /^\{\{ 'None' if value_json\.(\w+) is none else 'ON' if value_json\.\1 in (\[.*\]) else 'OFF' \}\}$/
  const [, key = '', list] = on.exec(template) ?? []
  if (list === undefined) throw new Error(`a template that this test does not know: ${template}`)
  const value = state[key] ?? null
  return value === null ? 'None' : (JSON.parse(list) as unknown[]).includes(value) ? 'ON' : 'OFF'
}

/** What the models of the page make of the document. */
export function pageShows(document: Record<string, unknown>) {
  const chain = chainOf(document)
  const link = (name: string) => chain.find((one) => one.link === name)
  const antennaStep = guideOf({ document, satellites: [], hasLogin: undefined }).find(({ step }) => step === 'antenna')
  const errors = listAt<StationError>(document, 'base.state.errors')
  return {
    fitness: verdictOf(document)?.fitness,
    code: verdictOf(document)?.code,
    antenna: [link('antenna')?.state, ...(link('antenna')?.facts ?? [])],
    receiver: link('receiver')?.state,
    firstBroken: firstBroken(chain),
    guide: antennaStep?.missing,
    /** Where each error is mended. */
    pages: errors.map(({ code }) => pageOf(code)),
  }
}
