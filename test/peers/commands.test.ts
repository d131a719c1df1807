/** Every command of the specification, on the simulator variant, over HTTP in both spellings and over MQTT. */
import mqtt from 'mqtt'
import t from 'tap'
import { homesOf, readCatalogue } from '../../runtime/loader/catalogue.js'
import { createTestStation, few, gateOnly, ownPorts, startStation, until } from '../harness/index.js'
import { mosquittoFor } from '../harness/peers/mosquitto.js'
import { noPeer } from '../harness/peers/peers.js'

const unless = { skip: gateOnly || noPeer('mosquitto') }

t.setTimeout(3_000_000)

const commandHomes = homesOf(readCatalogue(), 'commands')

type Row = readonly [command: string, status: number | readonly number[], answer: RegExp]

/** What each answers on a station that has just started, in this order. A second time the state may differ: then one of several. */
const rows: readonly Row[] = [
  ['log=n', 200, /log level silent/],
  ['log=0', 200, /log level silent/],
  ['log=e', 200, /log level error/],
  ['log=w', 200, /log level warn/],
  ['log=d', 200, /log level debug/],
  ['log=v', 200, /log level trace/],
  ['log=i', 200, /log level info/],
  ['log=1', 200, /log level info/],
  ['log=x', 400, /log=n\|e\|w/],
  ['logsavenvs', 200, /saved/],
  ['logclearnvs', 200, /deleted/],
  ['reset-debug', 200, /set back/],
  ['prodflag=3', 200, /prodflag=3/],
  ['prodflag=x', 400, /whole number/],
  ['rtcmin=1', 200, /./],
  ['rtcmin=0', 200, /./],
  ['rtcmin=auto', 200, /./],
  ['start-hardware-test', [200, 503], /hardware test|runs already/],
  ['start-production-test', [200, 503], /production test|runs already/],
  ['use-incomplete-survey-in', [200, 503], /./],
  ['rtcm-mqtt-force', [200, 503], /./],
  ['start-survey-in', 200, /./],
  ['mqtt-renew', 503, /./],
  ['get-router-qr', [200, 503], /WIFI:|router|over HTTP or on the console/],
  ['pull-vendor-data', [200, 503], /./],
  ['pair-vendor-repeater', [200, 503], /./],
  ['restart-wap', [200, 503], /./],
  ['restart-wap-fast', [200, 503], /./],
  ['restart-wap-dhcps', [200, 503], /./],
  ['wifi-sta-scan', [200], /workshop/],
  ['firmware=http://127.0.0.1:1/none.img', [200, 400, 503], /./],
  ['ota-upgrade=https://127.0.0.1:1/none.img', [200, 400, 503], /./],
  ['reboot-zed', [200, 503], /./],
  ['reset-zed', [200, 503], /./],
  ['mobile-scan', [200, 503], /scan|modem|router/],
  ['reboot-modem', [200, 503], /./],
  ['reboot-router', [200, 503], /./],
  ['factory-router', [200, 503], /./],
]
/** These end the run, so they come last. */
const ending = ['reboot', 'factory']

t.test('the table has every command of the specification', async (t) => {
  const names = new Set([...rows.map(([command]) => command.split('=')[0] as string), ...ending])
  t.strictSame(names, new Set(Object.keys(commandHomes)))
})

t.test('on a station without plugins each names the plugin that it needs', async (t) => {
  const station = await createTestStation({ sources: { 'http-api': {} } })
  t.teardown(() => station.stop())
  for (const [name, home] of Object.entries(commandHomes)) {
    const answer = await station.request(`/system?${name}`, { method: 'POST' })
    t.match(answer, { status: 404, text: new RegExp(`\\b${home}\\b`) }, name)
  }
})

t.test('on the simulator', unless, async (t) => {
  const { port } = await mosquittoFor(t, ['allow_anonymous true'])
  // A port that is still its own after the restarts.
  const [{ args }, { mqtt: http }] = [await ownPorts(), await ownPorts()]
  const station = await startStation([
    ...args,
    '--change',
    'mqtt-host=127.0.0.1',
    '--change',
    `mqtt-port=${port}`,
    '--set',
    `http.port=${http}`,
    // A scan of the operators takes 200 s, in which the router does nothing else.
    '--set',
    'simulated-router.scan_s=5',
  ])
  t.teardown(() => station.end('SIGKILL'))
  const post = async (query: string) => {
    const response = await fetch(`${station.url}/system?${query}`, { method: 'POST' })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5, reconnectPeriod: 200 })
  t.teardown(() => client.endAsync(true))
  const answers: { id: string; status: string; text: string }[] = []
  let sent = 0
  client.on('message', (_topic, payload, { properties }) => {
    const status = (properties?.userProperties as { status?: string } | undefined)?.status ?? ''
    answers.push({ id: String(properties?.correlationData), status, text: payload.toString() })
  })
  await client.subscribeAsync('base/SIM00001/resp/commands')
  const send = async (command: string) => {
    const id = `${command} ${sent++}`
    await client.publishAsync('base/SIM00001/cmd', command, {
      properties: { responseTopic: 'base/SIM00001/resp/commands', correlationData: Buffer.from(id) },
    })
    await until(() => answers.some((answer) => answer.id === id), `an answer to ${command}`, 60_000)
    return answers.find((answer) => answer.id === id) as (typeof answers)[number]
  }
  const up = async () => (await station.info<{ mqtt: { state: { link: string } } }>()).mqtt.state.link === 'up'
  await until(up, 'the MQTT link', 60_000)

  for (const [command, status, answer] of few(20, rows)) {
    const allowed = typeof status === 'number' ? [status] : status
    await until(up, 'the MQTT link', 60_000)
    const ways = [() => post(command), () => post(`cmd=${command}`), () => send(command)]
    const all = await Promise.all(ways.map((ask) => ask()))
    // A scan keeps the router busy, on a slow machine beyond its answer, and of three restarts at once the second finds it
    // busy with the first.
    for (const [i, ask] of ways.entries()) {
      const isFree = async () => {
        const { status, text } = all[i]
        if (allowed.includes(Number(status)) || !text.includes('the router is busy')) return true
        all[i] = await ask()
        return false
      }
      await until(isFree, `${command}: a router that is free`, 60_000)
    }
    for (const [index, { status: got, text }] of all.entries()) {
      const way = ['HTTP', 'HTTP cmd=', 'MQTT'][index]
      t.ok(allowed.includes(Number(got)), `${way} ${command}: ${got} ${text.slice(0, 120)}`)
      t.match(text, answer)
    }
    t.same(
      all.slice(0, 2).map((one) => (one as { type?: string }).type),
      ['text/plain; charset=utf-8', 'text/plain; charset=utf-8'],
    )
  }

  for (const command of few(1, ending)) {
    const boots = async () => (await station.info<{ esp: { bootcnt: number } }>()).esp.bootcnt
    const before = await boots()
    t.match(await post(command), { status: 200, text: /restarting/ })
    await until(async () => (await boots().catch(() => before)) > before, `${command}: the service is back`, 60_000)
  }
  t.match(await station.info(), { esp: { productionflag: 3 } }, 'which survives factory')
})
