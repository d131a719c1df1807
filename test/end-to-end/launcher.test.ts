/** The launcher of slots, as the unit starts it: a real sh, a stand-in for Node that prints what it was given. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { packageRoot } from '../../runtime/platform/release.js'
import { writeSums } from '../../runtime/tools/build/deb/slot.js'
import { few, gateOnly, sample } from '../harness/index.js'
import { noPeer } from '../harness/peers/peers.js'

const files = join(packageRoot(), 'runtime', 'tools', 'build', 'deb', 'files')
const shells = ['dash', 'bash']
const isRoot = process.getuid?.() === 0

function program(file: string, text: string): void {
  writeFileSync(file, text)
  chmodSync(file, 0o755)
}

/** What somebody can put in the place of a file: nobody reads these to their end. */
const traps: readonly [name: string, put: (file: string) => void][] = [
  ['a FIFO', (file) => execFileSync('mkfifo', [file])],
  ['a device', (file) => symlinkSync('/dev/zero', file)],
  ['a loop', (file) => symlinkSync(file, file)],
  ['a folder', (file) => mkdirSync(join(file, 'x'), { recursive: true })],
  [
    'a huge file',
    (file) => {
      writeFileSync(file, '')
      truncateSync(file, 2 ** 40)
    },
  ],
]

/** A start or an end that waits for a trap is over by then, and fails. */
const timeout = 20_000

function makeSlot(folder: string): void {
  mkdirSync(join(folder, 'plugins'), { recursive: true })
  writeFileSync(join(folder, 'rtk-base.mjs'), `// ${folder}\n`)
  writeFileSync(join(folder, 'plugins', 'system.cjs'), '// a plugin\n')
  writeSums(folder)
}

interface Start {
  code: number | null
  stderr: string
  /** undefined: nothing was started. */
  slot?: string
  trial?: string
  /** Why another slot runs, and whose settings. */
  fallback?: string
  settings?: string
  folder?: string
  rootFolder?: string
  args?: string
  /** The state as it was when the service started. */
  before?: string
}

/** A device with the slots `a` and `b` and that of the package. */
function device(t: Test, shell: string, state?: string) {
  const folder = t.testdir()
  const [root, lib, tools] = [join(folder, 'root'), join(folder, 'lib'), join(folder, 'tools')]
  for (const path of [root, lib, tools]) mkdirSync(path, { recursive: true })
  const slots = { a: join(root, 'a'), b: join(root, 'b'), f: join(lib, 'factory') }
  for (const slot of Object.values(slots)) makeSlot(slot)
  copyFileSync(join(files, 'notify-exec'), join(lib, 'notify-exec'))
  chmodSync(join(lib, 'notify-exec'), 0o755)
  // Prints what it was given, a line each.
  program(
    join(tools, 'node'),
    '#!/bin/sh\nprintf "%s\\n" "slot=$RTK_BASE_SLOT" "trial=$RTK_TRIAL" "fallback=$RTK_BASE_FALLBACK" "settings=$RTK_BASE_SETTINGS" "folder=$(pwd -P)" "rootFolder=$RTK_BASE_ROOT" "args=$*"\n' +
      '[ ! -f "$RTK_BASE_ROOT/state" ] || printf "before=%s\\n" "$(head -c 4096 "$RTK_BASE_ROOT/state" | tr -d "\\0" | tr "\\n" " ")"\n',
  )
  if (state !== undefined) writeFileSync(join(root, 'state'), state)
  const env = { PATH: process.env.PATH, RTK_BASE_LIB: lib, RTK_BASE_NODE: join(tools, 'node') }
  const launch = (more: NodeJS.ProcessEnv = {}, prefix: string[] = [], args: string[] = []): Start => {
    const [command = '', ...rest] = [...prefix, shell, join(files, 'launch'), root, ...args]
    const { status, stdout, stderr } = spawnSync(command, rest, { encoding: 'utf8', timeout, env: { ...env, ...more } })
    const lines = stdout.split('\n').filter((line) => line !== '')
    return { code: status, stderr, ...Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2))) }
  }
  const stateNow = () => readFileSync(join(root, 'state'), 'utf8')
  /** What the unit does after an end. */
  const end = (how: string, args: string[] = [], more: NodeJS.ProcessEnv = {}) => {
    const [SERVICE_RESULT, EXIT_CODE, EXIT_STATUS] = how.split(' ')
    const ended = spawnSync(shell, [join(files, 'ended'), root, ...args], {
      encoding: 'utf8',
      timeout,
      env: { ...env, SERVICE_RESULT, EXIT_CODE, EXIT_STATUS, ...more },
    })
    t.match(ended, { status: 0, stderr: '' }, how)
  }
  return { folder, root, lib, tools, slots, launch, stateNow, end }
}

const lines = (good: string, trial: string, tries: number | string, back: string, previous = '') =>
  `good=${good}\ntrial=${trial}\ntries=${tries}\nback=${back}\n${previous === '' ? '' : `previous=${previous}\n`}`

const crash = 'exit-code exited 1'

for (const shell of few(1, shells)) {
  /** Cases of one kind: with CI=true all of them in the sh of Debian, a few in the other shell, which has all of them on the machine. */
  const some = <T>(inTest: number, all: readonly T[]): readonly T[] =>
    shell === 'dash' ? few(inTest, all) : all.slice(0, sample(inTest, all.length))

  t.test(`the launcher in ${shell}`, { skip: noPeer(shell) }, async (t) => {
    t.test('starts the good slot, with root, slot, data folder and arguments', async (t) => {
      const { root, slots, launch, stateNow } = device(t, shell, lines('b', '', 0, 'a'))
      const started = launch({}, [], ['--set', 'info.name=a b'])
      t.match(started, { code: 0, slot: 'b', trial: '', folder: slots.b, rootFolder: root, stderr: '' })
      t.equal(started.args, `rtk-base.mjs run --data ${root}/data --set info.name=a b`)
      t.equal(stateNow(), lines('b', '', 0, 'a'), 'nothing is written, and what is reported stays')
    })

    t.test('a variant of the person’s own comes first among the arguments, when it is there', async (t) => {
      const { folder, root, launch } = device(t, shell)
      const own = join(folder, 'variant.json')
      const RTK_BASE_VARIANT = own
      t.equal(launch({ RTK_BASE_VARIANT }).args, `rtk-base.mjs run --data ${root}/data`)
      writeFileSync(own, '{}')
      t.equal(
        launch({ RTK_BASE_VARIANT }, [], ['--log', 'debug']).args,
        `rtk-base.mjs run --data ${root}/data ${own} --log debug`,
      )
    })

    t.test('counts a trial before it is started; after three starts the good slot runs', async (t) => {
      const { launch, stateNow } = device(t, shell, lines('a', 'b', 0, ''))
      for (const tries of [1, 2, 3]) {
        t.match(launch(), { code: 0, slot: 'b', trial: 'b', before: `good=a trial=b tries=${tries} back=` })
      }
      t.match(launch(), { code: 0, slot: 'a', trial: '', before: 'good=a trial= tries=0 back=b' })
      t.match(launch(), { slot: 'a' })
      t.equal(stateNow(), lines('a', '', 0, 'b'))
    })

    t.test('a new version in which Node itself ends at once is given up: the old slot runs again', async (t) => {
      const { tools, launch, end, stateNow } = device(t, shell, lines('a', 'b', 0, ''))
      const node = join(tools, 'node')
      const whole = readFileSync(node, 'utf8')
      program(node, whole.replace('#!/bin/sh\n', '#!/bin/sh\n[ "$RTK_BASE_SLOT" = b ] && exit 1\n'))
      const starts: Start[] = []
      // What the unit does: another start after each end.
      while (starts.at(-1)?.slot === undefined && starts.length < 9) {
        starts.push(launch())
        if (starts.at(-1)?.code !== 0) end(crash)
      }
      t.strictSame(
        starts.map(({ code, slot }) => `${code} ${slot}`),
        ['1 undefined', '1 undefined', '1 undefined', '0 a'],
      )
      t.equal(stateNow(), lines('a', '', 0, 'b'), 'the service is told which slot was given up')
    })

    t.test('a trial that is confirmed runs from then on', { skip: gateOnly }, async (t) => {
      const { root, launch } = device(t, shell, lines('a', 'b', 0, ''))
      t.match(launch(), { slot: 'b', trial: 'b' })
      writeFileSync(join(root, 'state'), lines('b', '', 0, ''))
      for (const _ of [1, 2, 3, 4]) t.match(launch(), { slot: 'b', trial: '' })
    })

    t.test('starts something whatever the state says', { skip: gateOnly }, async (t) => {
      const states: [name: string, state: string | undefined, slot: string][] = [
        ['missing', undefined, 'f'],
        ['bytes', `\0\x01\xff=\n==\n$(exit 1)\n\`exit 1\`\n`, 'f'],
        ['another slot', lines('../../etc', 'c', 0, ''), 'f'],
        ['cut in the middle', 'good=a\ntri', 'a'],
        ['a count that is none', lines('a', 'b', 'x', ''), 'a'],
        ['twice the same', `${lines('a', '', 0, '')}good=b\n`, 'b'],
        ['empty', '', 'f'],
        ['a command', 'good=a; rm -rf x\n', 'f'],
        ['spaces', 'good = a\n', 'f'],
        ['windows', 'good=a\r\ntrial=b\r\ntries=0\r\n', 'f'],
        ['a trial without a count', 'good=a\ntrial=b\n', 'a'],
        ['a count of two digits', lines('a', 'b', 10, ''), 'a'],
        ['unknown names', `colour=red\n${lines('b', '', 0, '')}`, 'b'],
        ['one very long line', `${'x'.repeat(100_000)}\ngood=b\n`, 'b'],
      ]
      for (const [name, state, slot] of some(6, states)) {
        const { launch } = device(t, shell, state)
        t.match(launch(), { code: 0, slot, trial: '' }, name)
      }
      const { root, launch } = device(t, shell)
      mkdirSync(join(root, 'state'))
      t.match(launch(), { code: 0, slot: 'f' }, 'a folder')
    })

    t.test('a half-written state.new changes nothing, and the next count replaces it', async (t) => {
      const { root, launch, stateNow } = device(t, shell, lines('a', 'b', 0, ''))
      writeFileSync(join(root, 'state.new'), 'good=f\ntri')
      t.match(launch(), { slot: 'b', trial: 'b' })
      t.equal(stateNow(), lines('a', 'b', 1, ''))
      t.notOk(existsSync(join(root, 'state.new')))
    })

    t.test('does not start a slot that is not whole', { skip: gateOnly }, async (t) => {
      const damages: [string, (slot: string) => void][] = [
        ['a byte more', (slot) => appendFileSync(join(slot, 'plugins', 'system.cjs'), ' ')],
        [
          'a bit flipped',
          (slot) => {
            const file = join(slot, 'rtk-base.mjs')
            const bytes = readFileSync(file)
            bytes[5] = (bytes[5] ?? 0) ^ 1
            writeFileSync(file, bytes)
          },
        ],
        ['a file missing', (slot) => rmSync(join(slot, 'plugins', 'system.cjs'))],
        ['no SHA256SUMS', (slot) => rmSync(join(slot, 'SHA256SUMS'))],
        ['an empty SHA256SUMS', (slot) => writeFileSync(join(slot, 'SHA256SUMS'), '')],
        ['a line that is none', (slot) => appendFileSync(join(slot, 'SHA256SUMS'), 'nonsense\n')],
        ['no slot', (slot) => rmSync(slot, { recursive: true })],
      ]
      for (const [name, damage] of some(2, damages)) {
        const onTrial = device(t, shell, lines('a', 'b', 0, ''))
        damage(onTrial.slots.b)
        t.match(onTrial.launch(), { code: 0, slot: 'a', trial: '' }, `${name}: the trial`)
        t.equal(onTrial.stateNow(), lines('a', '', 0, 'b'), `${name}: it is reported`)
        const good = device(t, shell, lines('a', '', 0, ''))
        damage(good.slots.a)
        t.match(good.launch(), { code: 0, slot: 'f' }, `${name}: the good one`)
        damage(good.slots.f)
        t.match(good.launch(), { code: 0, slot: 'b' }, `${name}: that of the package too`)
        damage(good.slots.b)
        t.match(good.launch(), {
          code: 1,
          slot: undefined,
          stderr: /no slot of .* is whole: install the package again/,
        })
      }
    })

    t.test('a slot with a file above 64 MiB is not whole', { skip: gateOnly }, async (t) => {
      const { slots, launch } = device(t, shell, lines('b', '', 0, '', 'a'))
      for (const [bytes, slot, fallback] of [
        [67_108_864, 'b', ''],
        [67_108_865, 'a', 'b'],
      ] as const) {
        truncateSync(join(slots.b, 'rtk-base.mjs'), bytes)
        writeSums(slots.b)
        t.match(launch(), { code: 0, slot, fallback }, `${bytes} bytes`)
      }
    })

    for (const [name, put] of some(0, traps)) {
      const trap = (file: string) => {
        rmSync(file, { recursive: true, force: true })
        put(file)
      }
      t.test(`${name} in the place of a file keeps nothing waiting`, async (t) => {
        const { folder, root, slots, launch, stateNow, end } = device(t, shell, lines('b', '', 0, '', 'a'))
        for (const [slot, file] of [
          ['b', 'SHA256SUMS'],
          ['a', 'rtk-base.mjs'],
        ] as const) {
          trap(join(slots[slot], file))
          t.match(launch(), { code: 0, slot: slot === 'b' ? 'a' : 'f', fallback: 'b' }, `${file} of slot ${slot}`)
        }
        for (const slot of [slots.a, slots.b]) {
          rmSync(slot, { recursive: true })
          makeSlot(slot)
        }
        for (const file of ['state', 'exits']) trap(join(root, file))
        t.match(launch(), { code: 0, slot: 'f', fallback: 'state' }, 'state and exits')

        rmSync(join(root, 'state'), { recursive: true })
        writeFileSync(join(root, 'state'), lines('b', 'a', 0, ''))
        trap(join(root, 'state.new'))
        t.match(launch(), { slot: 'a', trial: 'a' }, 'state.new')
        t.equal(stateNow(), lines('b', 'a', 1, ''), 'the trial is counted')

        writeFileSync(join(root, 'state'), lines('b', '', 0, ''))
        mkdirSync(join(root, 'data'))
        for (const file of ['exits.new', 'data/ended', 'data/ended.new']) trap(join(root, file))
        end(crash)
        t.match(readFileSync(join(root, 'data', 'ended'), 'utf8'), / exit-code exited 1\n$/)
        t.match(readFileSync(join(root, 'exits'), 'utf8'), /^slot=b\ncount=1\n/, 'the crash is counted')

        const own = join(folder, 'variant.json')
        trap(own)
        // A huge file is one that a person has put there: it is refused by the service.
        const isGiven = name === 'a huge file'
        t.equal(launch({ RTK_BASE_VARIANT: own }).args?.includes(own), isGiven, 'as if the variant were missing')
        for (const _ of [1, 2, 3]) end('exit-code exited 2', [], { RTK_BASE_VARIANT: own })
        t.match(launch({ RTK_BASE_VARIANT: own }), { settings: 'kept' }, 'the variant')
      })

      t.test(`${name}: a package is installed`, { skip: noPeer('dpkg') }, async (t) => {
        for (const file of ['state', 'b/manifest.json']) {
          const { root, lib, slots, stateNow } = device(t, shell, lines('b', '', 0, ''))
          for (const slot of [slots.b, slots.f])
            writeFileSync(join(slot, 'manifest.json'), '{\n  "version": "1.0.0"\n}')
          trap(join(root, file))
          trap(join(root, 'state.new'))
          const env = { PATH: process.env.PATH, RTK_BASE_LIB: lib }
          const { status } = spawnSync(shell, [join(files, 'prefer-factory'), root], { timeout, env })
          t.equal(status, 0, file)
          if (file !== 'state') t.equal(stateNow(), lines('f', '', 0, '', 'b'), 'the other slot has no version')
        }
      })
    }

    t.test(
      'a good slot that ends again and again is given up for the one before, then for that of the package',
      { skip: gateOnly },
      async (t) => {
        const { launch, stateNow, end } = device(t, shell, lines('b', '', 0, '', 'a'))
        const ends = [
          crash,
          'signal killed SEGV',
          'watchdog killed KILL',
          'core-dump dumped ABRT',
          'timeout killed KILL',
        ]
        for (const how of ends) {
          t.match(launch(), { slot: 'b', fallback: '' }, how)
          end(how)
        }
        t.match(launch(), { code: 0, slot: 'a', trial: '', fallback: '' })
        t.equal(stateNow(), lines('a', '', 0, 'b'), 'it is reported')
        for (const _ of ends) {
          t.match(launch(), { slot: 'a' })
          end('oom-kill killed KILL')
        }
        t.match(launch(), { slot: 'f' })
        t.equal(stateNow(), lines('f', '', 0, 'a'))
        for (const _ of some(5, [...ends, ...ends])) end(crash)
        t.match(launch(), { slot: 'f' }, 'there is no older one')

        t.test('one before that is not whole is passed over', async (t) => {
          const { launch, slots, end, stateNow } = device(t, shell, lines('b', '', 0, '', 'a'))
          rmSync(join(slots.a, 'SHA256SUMS'))
          for (const how of ends) end(how)
          t.match(launch(), { slot: 'f' })
          t.equal(stateNow(), lines('f', '', 0, 'b'))
        })

        t.test('that of the package goes back to the slot that it replaced', async (t) => {
          const { launch, end, stateNow } = device(t, shell, lines('f', '', 0, '', 'b'))
          for (const how of ends) end(how)
          t.match(launch(), { slot: 'b' })
          t.equal(stateNow(), lines('b', '', 0, 'f'))
        })

        t.test('a device that never had an update has nothing else', async (t) => {
          const { launch, end } = device(t, shell)
          for (const how of [...ends, ...ends]) end(how)
          t.match(launch(), { slot: 'f' })
        })
      },
    )

    t.test('what is not the fault of the slot is not counted', { skip: gateOnly }, async (t) => {
      const { root, launch, end } = device(t, shell, lines('b', '', 0, '', 'a'))
      const innocent = [
        'success exited 0',
        'success killed TERM',
        'exit-code exited 75',
        'resources exited 0',
        'exec-condition exited 1',
      ]
      for (const how of some(5, [...innocent, ...innocent, ...innocent])) end(how)
      t.notOk(existsSync(join(root, 'exits')))
      t.match(launch(), { slot: 'b' })
      for (const _ of [1, 2, 3, 4]) end(crash)
      // The service clears it when it has run for 10 min.
      rmSync(join(root, 'exits'))
      for (const _ of [1, 2, 3, 4]) end(crash)
      t.match(launch(), { slot: 'b' })
      writeFileSync(join(root, 'state'), lines('b', 'a', 1, ''))
      for (const _ of [1, 2, 3]) end(crash)
      t.match(launch(), { slot: 'a', trial: 'a' }, 'a trial has a count of its own')
      writeFileSync(join(root, 'state'), lines('a', '', 0, '', 'b'))
      end(crash)
      t.match(launch(), { slot: 'a' }, 'the count is that of one slot')
      for (const text of some(2, ['slot=a\ncount=x\n', 'count=5\n', '', '\0\xff', 'slot=a\ncount=55\n'])) {
        writeFileSync(join(root, 'exits'), text)
        t.match(launch(), { code: 0, slot: 'a', stderr: '' }, JSON.stringify(text))
      }
    })

    t.test(
      'settings that are refused three times give way to those that ran, then to those of the slot',
      { skip: gateOnly },
      async (t) => {
        const { folder, launch, end } = device(t, shell, lines('a', '', 0, '', 'b'))
        const own = join(folder, 'variant.json')
        const env = { RTK_BASE_VARIANT: own }
        writeFileSync(own, '{ "name": "roof" }')
        const args = ['--set', 'http.prot=80']
        const refuse = () => end('exit-code exited 2', args, env)
        for (const _ of [1, 2]) {
          t.match(launch(env, [], args), { slot: 'a', settings: '' })
          refuse()
        }
        t.match(launch(env, [], args), { settings: '' })
        refuse()
        t.match(launch(env, [], args), { slot: 'a', settings: 'kept' })
        t.match(launch(env, [], args), { settings: 'kept' }, 'as long as they stand')
        t.match(launch(env, [], ['--set', 'http.port=80']), { settings: '' }, 'other options are tried')
        writeFileSync(own, '{ "name": "hill" }')
        t.match(launch(env, [], args), { settings: '' }, 'and another variant')
        writeFileSync(own, '{ "name": "roof" }')
        refuse()
        t.match(launch(env, [], args), { slot: 'a', settings: 'safe' })
        for (const _ of [1, 2, 3, 4, 5]) refuse()
        t.match(
          launch(env, [], args),
          { slot: 'b', settings: 'safe' },
          'a slot that refuses its own settings is given up',
        )
      },
    )

    t.test('why another slot runs is told', { skip: gateOnly }, async (t) => {
      const lost = device(t, shell)
      t.match(lost.launch(), { slot: 'f', fallback: 'state' }, 'there were slots')
      for (const slot of [lost.slots.a, lost.slots.b]) rmSync(slot, { recursive: true })
      t.match(lost.launch(), { slot: 'f', fallback: '' }, 'there were none')
      const damaged = device(t, shell, lines('b', '', 0, '', 'a'))
      rmSync(join(damaged.slots.b, 'SHA256SUMS'))
      t.match(damaged.launch(), { slot: 'a', fallback: 'b' }, 'the one before it, not that of the package')
      rmSync(join(damaged.slots.a, 'SHA256SUMS'))
      t.match(damaged.launch(), { slot: 'f', fallback: 'b' })
    })

    t.test('nothing is tried that cannot be counted', { skip: gateOnly }, async (t) => {
      const { root, tools, launch, stateNow } = device(t, shell, lines('a', 'b', 0, ''))
      program(join(tools, 'sync'), '#!/bin/sh\nexit 1\n')
      t.match(launch({ PATH: `${tools}:${process.env.PATH}` }), { code: 0, slot: 'a', trial: '' })
      t.equal(stateNow(), lines('a', 'b', 0, ''))

      t.test('as on a read-only disk', { skip: noPeer('unshare') || (!isRoot && 'only root may mount') }, async (t) => {
        const readOnly = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
        t.match(launch({}, ['unshare', '-m', 'sh', '-c', readOnly, root]), { code: 0, slot: 'a', trial: '' })
        t.match(launch(), { slot: 'b', trial: 'b' }, 'and it is tried when the disk takes writes again')
      })
    })

    t.test(
      'killed at any call of its own, it starts a slot the next time, and the trial three times at most',
      { skip: gateOnly },
      async (t) => {
        for (const when of some(1, ['before', 'after'])) {
          for (let call = 1; call <= 3; call++) {
            const { tools, root, launch, stateNow } = device(t, shell, lines('a', 'b', 2, ''))
            const count = join(tools, 'count')
            for (const tool of ['sync', 'mv']) {
              const real = `/bin/${tool} "$@"`
              const kill = `n=$(($(cat ${count} 2>/dev/null || echo 0) + 1)); echo $n >${count}; [ $n != ${call} ] || kill -9 $PPID`
              program(
                join(tools, tool),
                `#!/bin/sh\n${when === 'before' ? `${kill}\n${real}` : `${real}\nr=$?\n${kill}\nexit $r`}\n`,
              )
            }
            const killed = launch({ PATH: `${tools}:${process.env.PATH}` })
            t.match(killed, { code: null, slot: undefined }, `killed ${when} call ${call}`)
            t.match(stateNow(), /^good=a\ntrial=b\ntries=[23]\nback=\n$/)
            const next = launch()
            const isTried = next.trial === 'b'
            t.match(next, isTried ? { slot: 'b' } : { slot: 'a', trial: '' })
            if (isTried) t.match(launch(), { slot: 'a', trial: '' })
            t.equal(readFileSync(join(root, 'state'), 'utf8'), lines('a', '', 0, 'b'))
          }
        }
      },
    )
  })
}

t.test('the shell scripts of the package are clean', { skip: noPeer('shellcheck') }, async (t) => {
  const scripts = ['launch', 'ended', 'exits', 'prefer-factory', 'postinst', 'prerm', 'postrm'].map((name) =>
    join(files, name),
  )
  const { status, stdout } = spawnSync('shellcheck', ['-s', 'dash', '-x', '-P', files, ...scripts], {
    encoding: 'utf8',
  })
  t.match({ status, stdout }, { status: 0, stdout: '' })
})
