/** Makes a table of antennas of a file of 30 MB, and prints what it cost: node antex-reader.js FOLDER. */
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { AntennaTable } from '../../../plugins/reference/raw/antennas.js'
import { block, bytesOf, choke, header } from '../../gnss/support/antex-writer.js'

const [folder = ''] = process.argv.slice(2)
const table = new AntennaTable(() => folder, Date.now, console.error)
const many = Array.from({ length: 500 }, (_, at) => bytesOf(block({ ...choke, model: `OTHER${at}` })))
async function* large() {
  yield bytesOf(header())
  for (let bytes = 0, at = 0; bytes < 30e6; at++) {
    const part = many[at % many.length] ?? Buffer.alloc(0)
    bytes += part.length
    yield part
  }
  yield bytesOf(block(choke))
}
/** The most memory that was ever resident, MB. */
const peak_mb = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1_024
const delay = monitorEventLoopDelay({ resolution: 1 })
const before_mb = peak_mb()
delay.enable()
const { bytes, count } = await table.replace(Readable.from(large()), 'large.atx')
delay.disable()
process.stdout.write(JSON.stringify({ bytes, count, more_mb: peak_mb() - before_mb, longest_ms: delay.max / 1e6 }))
