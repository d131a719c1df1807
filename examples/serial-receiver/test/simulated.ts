/** The simulated receiver of the tests, at a TCP port: its output each second, its answers and faults. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { encodeNmea, geodeticToEcef, msmEpochTime, unixToGps } from 'rtk-base/gnss'
import { arpFrame, type ManualClock, msmFrame, type ReceiverDevice } from 'rtk-base/testing'

const truth = geodeticToEcef({ lat: 52, lon: 4, alt: 50 })

export async function simulated(clock: ManualClock): Promise<ReceiverDevice & { port: string }> {
  let line: Socket | undefined
  let told = ['ROVER']
  let booted_ms = clock.monotonic()
  let antenna = 'OK'
  const is = { there: true, silent: false, deaf: false, wrong: false }

  function answer(sentence: string): void {
    const [word, ...values] = sentence.split(',')
    if (word === 'PXYWHO') say('PXYWHO,XY-1,1.0,SN0001')
    if (word === 'PXYGET') say(`PXYGET,${told.join(',')}`)
    if (word !== 'PXYSET') return
    if (!is.deaf) told = values
    say(`PXYSET,${is.deaf ? 'ERROR' : 'OK'}`)
  }
  const send = (bytes: Uint8Array) => void (is.silent || line?.write(bytes))
  const say = (sentence: string) => send(encodeNmea(sentence))

  const server = createServer((socket) => {
    if (!is.there) return void socket.destroy()
    line = socket
    // Otherwise bytes are delayed by some ms, in which the clock of a test advances by seconds.
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      for (const [, sentence = ''] of String(bytes).matchAll(/\$(PXY[^*]*)\*/g)) answer(sentence)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  function restart(): void {
    told = ['ROVER']
    booted_ms = clock.monotonic()
  }

  return {
    port: `tcp://127.0.0.1:${(server.address() as { port: number }).port}`,
    connect() {
      is.there = true
      restart()
    },
    disconnect() {
      is.there = false
      line?.destroy()
      line = undefined
    },
    silence(on) {
      is.silent = on
    },
    restart,
    refuse(on) {
      is.deaf = on
    },
    wrongReference(on) {
      is.wrong = on
    },
    antenna(status) {
      antenna = status.toUpperCase()
    },
    async second() {
      const t = Math.floor(clock.now() / 1000)
      const [mode, x = truth.x, y = truth.y, z = truth.z, stationId = 0] = told
      const position = { x: Number(x), y: Number(y), z: Number(z) }
      say(`PXYPOS,${t},${Object.values(position).join(',')},1,12,${clock.monotonic() - booted_ms}`)
      say(`PXYANT,${antenna}`)
      if (mode === 'BASE') send(arpFrame({ ...position, x: position.x + (is.wrong ? 1 : 0) }, Number(stationId)))
      const tow_ms = unixToGps(t, 18).tow_s * 1000
      send(msmFrame(1074, msmEpochTime('GPS', tow_ms, 18), false, Number(stationId)))
      // The bytes go through a real socket, which does not follow the clock of the test.
      await new Promise((done) => setTimeout(done, 5))
    },
    end() {
      line?.destroy()
      server.close()
    },
  }
}
