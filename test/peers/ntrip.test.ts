/** The caster beside the programs that people use. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Framer, isMsm } from '../../runtime/gnss/index.js'
import { ownPorts, startStation, until } from '../harness/index.js'
import { noPeer } from '../harness/peers/peers.js'

t.setTimeout(300_000)

const typesOf = (bytes: Buffer) => {
  const types: number[] = []
  new Framer({ onFrame: (frame) => frame.kind === 'rtcm' && types.push(frame.type) }).push(bytes, 0)
  return types
}
const read = (file: string) => {
  try {
    return readFileSync(file)
  } catch {
    return Buffer.alloc(0)
  }
}

function run(t: Test, program: string, args: string[]) {
  const child = spawn(program, args, { stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

t.test('programs take the stream of the simulator station', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-ntrip-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const station = await startStation((await ownPorts()).args)
  t.teardown(() => station.end('SIGKILL'))
  type Shown = {
    gnss: { state: { status: string } }
    ntrip: { caster: { port: number; rovers: { agent: string; quality: number }[] } }
  }
  await until(async () => (await station.info<Shown>()).gnss.state.status === 'fixed', 'fixed', 120_000)
  const { port } = (await station.info<Shown>()).ntrip.caster

  t.test('RTKLIB str2str, NTRIP 1 with GGA; its convbin reads what it got', { skip: noPeer('str2str') }, async (t) => {
    const file = join(folder, 'str2str.rtcm3')
    const from = `ntrip://rover:pass@127.0.0.1:${port}/SIM00001`
    const child = run(t, 'str2str', ['-n', '1000', '-p', '52.0', '4.0', '50', '-in', from, '-out', `file://${file}`])
    await until(() => typesOf(read(file)).filter(isMsm).length >= 20, 'five epochs', 60_000)
    t.equal(typesOf(read(file))[0], 1005, 'the position first')
    const rover = async () =>
      (await station.info<Shown>()).ntrip.caster.rovers.find(({ agent }) => /RTKLIB/.test(agent))
    await until(async () => ((await rover())?.quality ?? 0) > 0, 'its GGA', 60_000)
    child.kill('SIGINT')
    const { status } = spawnSync('convbin', ['-r', 'rtcm3', '-od', '-o', join(folder, 'o.obs'), file], {
      encoding: 'utf8',
    })
    t.equal(status, 0)
    t.match(read(join(folder, 'o.obs')).toString(), /APPROX POSITION XYZ/)
  })

  t.test('curl, NTRIP 2: table and stream', { skip: noPeer('curl') }, async (t) => {
    const ntrip = ['-sS', '-A', 'NTRIP curl/1', '-H', 'Ntrip-Version: Ntrip/2.0']
    const { stdout } = spawnSync('curl', [...ntrip, `http://127.0.0.1:${port}/`], { encoding: 'utf8' })
    t.match(stdout, /^STR;SIM00001;SIM00001;RTCM 3\.2;1005\(1\),1074\(1\)/)
    t.match(stdout, /ENDSOURCETABLE\r\n$/)
    const file = join(folder, 'curl.rtcm3')
    run(t, 'curl', [...ntrip, '-N', '-m', '60', '-o', file, `http://127.0.0.1:${port}/SIM00001`])
    await until(() => typesOf(read(file)).filter(isMsm).length >= 8, 'two epochs', 60_000)
    t.equal(typesOf(read(file))[0], 1005)
  })
})
