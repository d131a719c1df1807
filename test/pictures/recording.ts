/**
 * What the pictures of the page show: documents and answers of the simulator, recorded once, and a clock that stands. One JSON line for
 * each, as `recorded.ndjson` keeps them.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../runtime/platform/release.js'
import { localStation, post } from '../harness/children/browser-rig.js'
import { until } from '../harness/manual-clock.js'
import { openEvents } from '../harness/peers/event-stream.js'

export type Json = { [name: string]: unknown }
/** Situations of the station that the simulator gets to by itself. */
export type Situation = 'fixed' | 'moved' | 'offline' | 'survey'

export interface Recording {
  readonly documents: Readonly<Record<Situation, Json>>
  /** Event of the stream → its data; those of a running survey-in. */
  readonly events: Readonly<Record<string, unknown>>
  /** Path of a GET request → its answer; a text is no JSON. */
  readonly answers: Readonly<Record<string, unknown>>
  readonly at_ms: number
}

export const picturesFolder = join(packageRoot(), 'test', 'pictures')
const file = join(picturesFolder, 'recorded.ndjson')
const paths = ['/session', '/addresses', '/procedure', '/ntrip-caster/users', '/ntrip-server', '/positions']
const more = ['/parameters', '/actions', '/plugins', '/history/sky']

export const readRecording = (): Recording => {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return Object.assign({}, ...lines.map((line) => JSON.parse(line) as Json)) as Recording
}

/** Records a station anew, which takes two minutes: for a document or an answer that got another shape. */
export async function record(): Promise<void> {
  const changes = ['gnss-survey-mintime=30', 'gnss-survey-accuracy=5'].flatMap((change) => ['--change', change])
  const station = await localStation([...changes, '--set', 'simulated-receiver.boot=fixed'])
  const stream = await openEvents(station.url)
  const last = (name: string) => stream.of(name).at(-1)
  const document = () => last('document') as Json & { gnss: { state: { status: string } } }
  const is = (wanted: string) => until(() => document()?.gnss.state.status === wanted, wanted, 300_000)
  const documents: Partial<Record<Situation, Json>> = {}
  const settle = () => new Promise((resolve) => setTimeout(resolve, 15_000))
  await is('fixed')
  await settle()
  documents.fixed = document()
  await post(station, '/system?start-survey-in')
  await is('survey')
  await settle()
  documents.survey = document()
  const events = { hello: last('hello'), satellites: last('satellites'), curve: stream.of('point').slice(-15) }
  await is('fixed')
  await post(station, '/system?sim=unplug')
  await is('offline')
  await settle()
  documents.offline = document()
  await post(station, '/system?sim=replug')
  await is('fixed')
  await post(station, '/system?sim=move%2030%200%200')
  await is('moved')
  documents.moved = document()
  const answers: Json = {}
  for (const path of [...paths, ...more]) answers[path] = await (await fetch(`${station.url}${path}`)).json()
  answers['/record'] = await (await fetch(`${station.url}/record?from=0`)).text()
  const recording = { documents, events, answers, at_ms: Date.now() }
  const lines = Object.entries(recording).map(([name, value]) => JSON.stringify({ [name]: value }))
  writeFileSync(file, `${lines.join('\n')}\n`)
  stream.close()
  await station.end()
}
