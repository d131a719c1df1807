/**
 * Run in a network of its own: an upload that breaks off, the same once more, and the version that comes of it; then an update that takes
 * itself back, and one from an address, as a layman does them.
 */
import { cpSync, createReadStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createWeb } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPrivateKey } from '../../../runtime/lib/image/keys.js'
import { packImage } from '../../../runtime/lib/image/pack.js'
import { until } from '../manual-clock.js'
import { rtkBase } from '../process.js'
import { fromSlots } from '../slots.js'
import { address, compare, localStation, openTab, startBrowser, textWith } from './browser-rig.js'
import { firmwareTasks } from './tasks/firmware.js'
import { Player } from './tasks/player.js'

const [shots = ''] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'rtk-base-upload-'))
const at = (name: string) => join(folder, name)
await rtkBase(['keys', at('maker')])
for (const [name, release] of [
  ['next', '99.0.0'],
  ['good', '99.2.0'],
] as const) {
  const args = ['build', 'simulator', '--out', at(name), '--release', release, '--sign', at('maker.key')]
  compare(`the image of ${release} is built`, (await rtkBase(args)).code, 0)
}

/** A link that breaks after so many bytes of the page. */
let left_bytes = Number.POSITIVE_INFINITY
const sockets = new Set<Socket>()
const link = createServer((near) => {
  const far = connect(8080, address)
  for (const socket of [near, far]) {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      near.destroy()
      far.destroy()
    })
  }
  far.pipe(near)
  near.on('data', (chunk) => {
    left_bytes -= chunk.length
    if (left_bytes < 0) for (const socket of sockets) socket.destroy()
    else if (!far.write(chunk)) {
      near.pause()
      far.once('drain', () => near.resume())
    }
  })
}).listen(8081, address)

const station = await localStation(
  ['--set', 'http.port=8080', '--set', `ota.keys=${JSON.stringify([at('maker.pub')])}`, '--set', 'ota.healthy_s=1'],
  { ...fromSlots(), data: at('data') },
)
const browser = await startBrowser()
const { page } = await openTab(await browser.newContext())
await page.goto(`http://${address}:8081/#/update`)
await page.getByLabel('Signed image (.img)').setInputFiles(at('next.img'))
const says = async (what: string, selector: string, text: RegExp) => {
  const found = await textWith(page, selector, text)
  compare(what, text.test(found) || found, true)
}

left_bytes = Math.floor(statSync(at('next.img')).size / 2)
await page.getByRole('button', { name: 'Upload and install' }).click()
await says('the page says why it broke off', '[role=status]', /connection was lost/)
left_bytes = Number.POSITIVE_INFINITY
await says('and what the station made of it', '.trouble', /the update failed: the body was cut off|the update failed:/i)
compare('the file is still chosen', await page.getByLabel('Signed image (.img)').inputValue(), 'C:\\fakepath\\next.img')
await page.getByRole('button', { name: 'Upload and install' }).click()
await says('the second one ends well', '[role=status]', /99\.0\.0 is installed/)
await says('another version answers', '[role=alert]', /now runs another version/)
await page.getByRole('button', { name: 'Reload page' }).click()
await says('which the page is of then', 'footer', /rtk-base 99\.0\.0/)
type Update = { esp: { version: string }; base: { update: { state: string; failed: boolean } } }
await until(async () => (await station.info<Update>()).base?.update?.state === 'idle', 'the trial is over')
compare('and nothing of the failure is left', (await station.info<Update>()).base.update.failed, false)

cpSync(at('next'), at('bad'), { recursive: true })
const program = join(at('bad'), 'rtk-base.mjs')
writeFileSync(program, `process.exit(3)\n${readFileSync(program, 'utf8').replace(/^#!.*\n/, '')}`)
const facts = { type: 'bundle' as const, name: 'simulator', version: '99.1.0', hardware: ['simulator'], arch: 'any' }
await packImage(at('bad'), facts, readPrivateKey(readFileSync(at('maker.key'), 'utf8')), at('bad.img'))
const web = createWeb((_request, reply) => {
  reply.writeHead(200, { 'content-length': statSync(at('good.img')).size })
  createReadStream(at('good.img')).pipe(reply)
}).listen(8082, address)
const player = await Player.start(browser, 'finger', station, shots)
await firmwareTasks(player, at('bad.img'), `http://${address}:8082/good.img`, '99.2.0')

await browser.close()
await station.end()
link.close()
web.close()
for (const socket of sockets) socket.destroy()
rmSync(folder, { recursive: true, force: true })
