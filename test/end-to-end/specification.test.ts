/** The variant with everything is the device of the specification: every field, parameter and command of it is there. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { homesOf, readCatalogue } from '../../runtime/loader/catalogue.js'
import { packageRoot } from '../../runtime/platform/release.js'
import { readVariant } from '../../runtime/tools/cli/variant-file.js'
import type { Variant } from '../../schemas/variant.js'
import { drive } from '../harness/drive.js'
import { createTestStation } from '../harness/index.js'

/** Names below a path, as the specification lists them: a space parts names, braces hold those below. */
const document = `
esp{version sha256 idf built serial hardware partition productionflag bootcnt state{uptime}
  mem{internal{free used freeblocks usedblocks} spiram{free used freeblocks usedblocks}}}
gnss{zed{module vfirmware vhardware vsoftware serial}
  state{time tm status gps_fix corrected uptime time_first_fix satvis satuse want_corr
    antenna{power status failcnt failtime oktime} recvrtcm{elapsed age count packets remote dist}}
  config{startup{accuracy delta_max delta_max_corr} recvrtcm{max_age}}
  pos{lat lon alt x y z acc delta geoidal-seperation t tm}
  ref{manual{type x y z acc t tm hp corr}
    survey{type x y z acc t tm hp corr state allow_use accuracy_corr_dyn elapsed count rtcm{age count remote dist}
      config{mintime maxtime accuracy accuracy_corr}}
    chosen}
  rtcm{msgs stat{recvd corrupt} subscribers}}
base{log{save_period} update{state failed progress} state{base errors} leds{red{pattern} green{pattern} rgb{pattern}}}
eth{mac enabled cable ip mask gw arp}
wap{bssid ssid enabled pwd tx_power max_sta beacon bandwidth channel inactive_time
  reg{cc max_chan max_txpwr} revgw{mac ip dns} sta}
sta{mac ssid bssid auth ip4 ip6 inactive_time channel channel2 bandwidth rssi}
udp{enabled port}
mqtt{via host port state{link cert{from until serial}} rtcm{enabled active topic rate sign}}
router{serial macaddr hw hwver hwbatch swver state{uptime time} wap{bssid ssid pswd} default{user pswd}
  wap-ssid model imei sim-iccid sim-imsi operator network-type cell-id plmn signal connected}
modem{imei model manuf rev support{operator}
  state{network operator carrier data connection_type cell_id rssi plmn temp pending}
  cfg{plmn ping_reboot apn user pswd} sim{imsi iccid state} stats{sent recvd} scan}`

const parameters = `
gnss-survey-mintime gnss-survey-maxtime gnss-survey-accuracy gnss-survey-accuracy-corr trigger-gnss-survey
gnss-initial-accuracy gnss-initial-max-delta gnss-initial-max-delta-corr gnss-recvrtcm-max-age
gnss-ref-manual-acc gnss-ref-manual-corr gnss-ref-manual-hp gnss-ref-manual-lat gnss-ref-manual-lon gnss-ref-manual-alt
gnss-ref-manual-x gnss-ref-manual-y gnss-ref-manual-z gnss-ref-chosen
mqtt-en mqtt-host mqtt-port mqtt-rtcm-sign mqtt-rtcm-rate udp-en udp-port eth-en
wap-en wap-ssid wap-pswd wap-chan wap-txpwr wap-inactive-time wap-max-sta wap-revgw-dns wap-revgw-mac
sta-ssid sta-pswd wifi-reg-cc mobile-operator mob-ping-host mob-apn mob-user mob-pswd rtr-user rtr-pswd log-save-period`

const commands = `
reboot factory reboot-zed reset-zed reboot-router factory-router reboot-modem pull-vendor-data start-survey-in
use-incomplete-survey-in rtcm-mqtt-force mqtt-renew pair-vendor-repeater restart-wap restart-wap-fast restart-wap-dhcps
wifi-sta-scan mobile-scan get-router-qr log=n log=0 log=e log=w log=i log=1 log=d log=v logsavenvs logclearnvs reset-debug
firmware=URL ota-upgrade=URL start-production-test start-hardware-test prodflag=1 rtcmin=1`

const words = (text: string) => text.trim().split(/\s+/)

/** `a{b c{d}}` → `a.b`, `a.c.d` */
function paths(text: string): string[] {
  const found: string[] = []
  const above: string[] = []
  for (const [, name, mark] of text.matchAll(/([\w-]*)([{}\s]|$)/g)) {
    if (name && mark === '{') above.push(name)
    else if (name) found.push([...above, name].join('.'))
    if (mark === '}') above.pop()
  }
  return found
}

t.test('every device variant answers on port 80, where captive-portal probes and old scripts come', async (t) => {
  const folder = join(packageRoot(), 'runtime', 'variants')
  const devices = readdirSync(folder).flatMap((file) => {
    const { variant } = readVariant(file.replace(/\.json$/, ''))
    // A fleet is no device.
    return variant.simulator || variant.name === 'fleet' ? [] : [variant]
  })
  t.ok(devices.length >= 5)
  for (const { name, http } of devices) t.equal(http?.port, 80, name)
})

t.test('zed-full has every field, parameter and command of the specification', async (t) => {
  const full = readVariant('zed-full').variant
  const simulated = readVariant('simulator').variant
  // The same plugins, with simulators at their edges.
  const simulators = Object.keys(simulated.plugins).filter((name) => name.startsWith('simulated-'))
  const names = [...simulators, ...Object.keys(full.plugins)]
  const plugins = names.map((name) => [name, simulated.plugins[name] ?? {}])
  const station = await createTestStation({
    sources: Object.fromEntries(plugins) as Variant['plugins'],
    variant: { changes: { 'sta-ssid': 'uplink', 'sta-pswd': 'long-enough' } },
  })
  t.teardown(() => station.stop())
  t.strictSame(
    station.station.plugins().filter(({ state }) => state !== 'running'),
    [],
  )
  const wanted = paths(document)
  const missing = () => wanted.filter((path) => station.field(path) === undefined)
  await drive(station.clock, () => missing().length === 0, 'every field').catch(() => {})
  t.strictSame(missing(), [])
  t.equal(wanted.length, 203)

  t.equal(words(parameters).length, 47)
  const { leftover } = await station.station.change(
    { ...Object.fromEntries(words(parameters).map((name) => [name, {}])), unknown: {} },
    { source: 'http' },
  )
  t.equal(Object.keys(leftover).length, 48, 'nothing is taken')
  const unknown = await Promise.all(
    words(parameters).map((name) => station.station.change({ [name]: {} }, { source: 'http' })),
  )
  t.strictSame(
    words(parameters).filter((_name, n) => unknown[n]?.result === 'ok'),
    [],
    'a name that is not known fails no change',
  )

  t.equal(words(commands).length, 36)
  const specified = new Set(words(commands).map((command) => command.split('=')[0] as string))
  const owners = station.station.actions().filter(({ name }) => specified.has(name))
  t.strictSame(new Set(owners.map(({ name }) => name)), specified)
  t.strictSame(
    homesOf(readCatalogue(), 'commands'),
    Object.fromEntries(owners.map(({ name, plugin }) => [name, plugin])),
    'what a plugin says that it brings is what it adds',
  )
})

/** What the specification says of a command, and how a wrong one is refused, to the letter. */
const refusals: readonly (readonly [text: string, status: number, answer: string])[] = [
  ['log', 400, 'log=n|e|w|i|d|v (none, error, warn, info, debug, all), or log=PLUGIN:d'],
  ['log=x', 400, 'log=n|e|w|i|d|v (none, error, warn, info, debug, all), or log=PLUGIN:d'],
  ['log=nobody:d', 400, 'there is no plugin nobody here'],
  ['prodflag', 400, 'prodflag=<whole number>'],
  ['prodflag=1.5', 400, 'prodflag=<whole number>'],
  ['rtcmin', 400, "rtcmin is 0, 1 or auto, not ''"],
  ['rtcmin=2', 400, "rtcmin is 0, 1 or auto, not '2'"],
  ['firmware', 400, 'firmware=<https URL of a firmware image>'],
  ['ota-upgrade=', 400, 'ota-upgrade=<https URL of a firmware image>'],
]

t.test('every command of the specification is an action, over HTTP in both spellings and over MQTT', async (t) => {
  const simulated = readVariant('simulator').variant
  const station = await createTestStation({ sources: { ...simulated.plugins, 'mqtt-broker': { port: 0 } } as never })
  t.teardown(() => station.stop())
  const text = async (command: string) => {
    const wanted = { status: 0, text: '' }
    const { station: surfaces } = station
    const answers = [
      ...(await Promise.all(
        [command, `cmd=${command}`].map((query) => station.request(`/system?${query}`, { method: 'POST' })),
      )),
      await surfaces.command(command, { source: 'mqtt' }),
    ].map(({ status, text }) => ({ ...wanted, status, text: text.trimEnd() }))
    for (const answer of answers) t.strictSame(answer, answers[0], command)
    return answers[0] ?? wanted
  }
  for (const [command, status, answer] of refusals) t.strictSame(await text(command), { status, text: answer })
  const fields = new Map(
    station.station.actions().map(({ name, input }) => [name, Object.keys(input.properties ?? {})]),
  )
  for (const [name = '', value] of words(commands).map((command) => command.split('='))) {
    t.equal(fields.get(name)?.length, value === undefined ? 0 : 1, name)
    if (value === undefined) t.strictSame(await text(`${name}=1`), { status: 400, text: `${name} takes no value` })
  }
  for (const level of ['n', '0', 'e', 'w', 'd', 'v', 'i', '1'])
    t.match(await text(`log=${level}`), { status: 200, text: /^log level \w+, until the service restarts$/ })
  t.strictSame(await text('prodflag=7'), { status: 200, text: 'prodflag=7' })
  for (const value of ['1', '0', 'auto']) t.equal((await text(`rtcmin=${value}`)).status, 200)
})
