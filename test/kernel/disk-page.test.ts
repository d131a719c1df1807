/** runtime/docs/disk.md: each of its rows has tests, which are named here. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../runtime/platform/release.js'

const disk = 'peers/disk'
const launcher = 'end-to-end/launcher'
const commandLine = 'end-to-end/command-line'
const kept = 'kernel/kept-settings'
const store = 'kernel/store'
const updates = 'plugins/device/ota/plugin-updates'

const gone = [kept, 'a file that is gone does not open what it closed'] as const
const traps = [launcher, 'in the place of a file keeps nothing waiting'] as const
const whole = [launcher, 'does not start a slot that is not whole'] as const

/** Row → test files, and titles in them. */
const rows: Readonly<Record<string, readonly (readonly [file: string, ...titles: string[]])[]>> = {
  'state: missing, empty, damaged, unreadable, a folder': [
    [disk, 'state is missing', 'state is empty', 'state is garbage', 'state cannot be read', 'state is a folder'],
  ],
  'state.new: left over, of any kind': [
    [disk, 'state.new is a folder', 'state.new is a FIFO, and there is a trial'],
    traps,
  ],
  'state, exits: a FIFO, device, folder, loop or huge file': [[disk, 'state is a FIFO', 'exits is a FIFO'], traps],
  'the good slot: missing, damaged, unreadable, without SHA256SUMS': [
    [disk, 'the good slot is missing', 'the good slot is damaged', 'the good slot cannot be read'],
    [disk, 'the good slot has no digests'],
  ],
  'the good slot: exits five times, each time within 10 min of its start': [
    [disk, 'the good slot ends again and again'],
  ],
  'a slot on trial: damaged, or not confirmed after three starts or 20 min': [
    [disk, 'the trial ends again and again'],
    whole,
    [launcher, 'counts a trial before it is started; after three starts the good slot runs'],
    ['plugins/device/ota/trial', 'gives itself up when RTCM does not come back, and the version before reports that'],
  ],
  'any slot: a FIFO, device, link or a file above 64 MiB in it': [
    [disk, 'the good slot has a FIFO', 'the digests of the good slot are a device'],
    [launcher, 'a slot with a file above 64 MiB is not whole'],
  ],
  'the packaged slot: damaged': [whole, [kept, 'why the launcher has started another slot']],
  'exits: missing, damaged, unreadable': [
    [disk, 'exits is garbage', 'exits is a folder'],
    [launcher, 'what is not the fault of the slot is not counted'],
  ],
  '/etc/default/rtk-base: wrong: an unknown option, flag or value': [
    [disk, 'the options have a typing error', 'the options have an unknown flag'],
  ],
  '/etc/default/rtk-base: missing, empty or damaged, and it contained the login': [
    [disk, 'the options are missing', 'the options are empty', 'the options are garbage'],
  ],
  '/etc/default/rtk-base: missing, empty or damaged, and it contained no login': [gone],
  '/etc/rtk-base/variant.json: empty, damaged, unreadable, with fields of a newer version': [
    [disk, 'the variant is empty', 'the variant is cut', 'the variant cannot be read'],
    [disk, 'the variant has a field of a newer version'],
  ],
  '/etc/rtk-base/variant.json: missing, and it contained the login': [gone],
  '/etc/rtk-base/variant.json: missing, and it contained no login': [gone],
  '/etc/rtk-base/variant.json: a FIFO, device, folder or loop': [traps],
  '/etc/rtk-base/variant.json: above 1 MiB': [[kept, 'a variant above 1 MiB is refused, and may hold a login']],
  'kept.json: a FIFO, device, folder, loop or huge file': [
    [disk, 'kept.json is huge'],
    [kept, 'whatever lies in the place of exits and kept.json keeps nothing waiting, and is as if it were missing'],
  ],
  'kept.json: missing, damaged, of a newer version': [
    [disk, 'kept.json is garbage', 'the options are wrong, and none were kept'],
    [kept, 'without settings that ran well HTTP is on this machine only, and no receiver is written to'],
  ],
  'the folder: missing': [[disk, 'the data folder is missing', 'the folder of the service is missing']],
  'the folder: is a file, or cannot be created or read': [
    [disk, 'the data folder is a file', 'the data folder cannot be read', 'the disk is read-only and empty'],
  ],
  'store, a file in it: unreadable for the service': [
    [disk, 'the store cannot be read', 'a generation cannot be read'],
  ],
  'store/snapshot-0, -1: one is missing or damaged': [
    [disk, 'one generation of the settings is damaged', 'one generation of the settings is missing'],
  ],
  'store/snapshot-0, -1: both are missing or damaged': [
    [disk, 'both generations are damaged', 'both generations are missing'],
  ],
  'store/snapshot-0, -1: written by a newer version that was dropped': [
    [disk, 'both generations are of a newer layout'],
    [store, 'a newer layout is told apart from damage'],
  ],
  'store/snapshot-0, -1: on a full or read-only disk': [
    [disk, 'the disk is read-only'],
    [commandLine, 'a full one: it starts, also with --change and without plugins in the cache, and says so'],
  ],
  'store/before-update: missing, damaged': [
    [disk, 'before-update is garbage'],
    [store, 'without a copy, or with one that is damaged or newer too, there are the defaults'],
  ],
  'plugin-updates/index.json: missing, damaged, of a newer version': [
    [disk, 'the list of plugin updates is garbage'],
    [updates, 'whose list is gone or damaged is reported'],
  ],
  'an updated plugin: missing, damaged, refuses the options, does not start in three attempts': [
    [disk, 'a confirmed plugin update is gone'],
    [updates, 'that cannot be loaded goes back to the confirmed one before, then to the bundle’s'],
    [updates, 'that does not take the variant’s options is given up; a mistake in the variant stays one'],
    [updates, 'is counted before it is loaded: one that ends the process is given up after three starts'],
  ],
  'run.json, ended: missing, damaged, a folder': [
    [disk, 'traces of the run before are garbage', 'traces of the run before are folders'],
  ],
  'any file here: a FIFO, device, folder, loop or huge file': [
    [disk, 'a snapshot is a loop', 'a file of a plugin is a FIFO'],
    ['kernel/plain-files', 'only plain files of a limited size are read'],
  ],
  'control.sock: left over': [
    [disk, 'traces of the run before are folders'],
    [commandLine, 'a control socket that cannot be made costs the console, not the station'],
  ],
  'plugins/: anything': [
    ['kernel/loader', 'whatever became of a bundle there, the code that runs is the one that was built'],
  ],
  'files/PLUGIN: missing, damaged': [[disk, 'files of plugins are garbage']],
  'files/PLUGIN: is a file, or cannot be read': [
    [disk, 'files of plugins cannot be read', 'files of plugins are a file'],
  ],
}

t.test('each row has its tests, and they are there', (t) => {
  const root = packageRoot()
  const page = readFileSync(join(root, 'runtime', 'docs', 'disk.md'), 'utf8')
  let file = ''
  const found: string[] = []
  for (const line of page.split('\n')) {
    if (!line.startsWith('| ') || line.startsWith('| file |')) continue
    const [first = '', problem] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.replaceAll('`', '').trim())
    // The rows of a file follow each other, and the first names it.
    if (first !== '') file = first
    found.push(`${file}: ${problem}`)
  }
  t.strictSame(found, Object.keys(rows))
  for (const [row, tests] of Object.entries(rows)) {
    for (const [name, ...titles] of tests) {
      const source = readFileSync(join(root, 'test', `${name}.test.ts`), 'utf8')
      for (const title of titles) t.ok(source.includes(title), `${row}: "${title}" in ${name}`)
    }
  }
  t.end()
})
