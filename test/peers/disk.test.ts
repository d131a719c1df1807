/**
 * What lies on the disk, row by row as in runtime/docs/disk.md, made missing, damaged, newer or unreadable on the installed package
 * under a real systemd (of a Debian 13 where one can be made, else of this machine): RTCM flows again within a minute without a hand,
 * and the station says what it has given up.
 */
import { copyFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { machineOnly, rtkBase, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { copyFor, debian13, inCopy, type Machine, noMachine, startMachine } from '../harness/peers/machine.js'
import { noPeer } from '../harness/peers/peers.js'
import { fieldVariant } from './real-updates.js'

t.setTimeout(3_600_000)
const home = '/var/lib/rtk-base'
const limit_ms = 60_000
const token = '0123456789abcdef'
const rtcmPort = 5_555

const variant = {
  ...fieldVariant,
  changes: { ...fieldVariant.changes, 'rtcm-tcp-port': rtcmPort },
  plugins: { ...fieldVariant.plugins, record: {}, recovery: {}, 'rtcm-tcp': {} } as Record<string, object>,
}

/** Prints what a client on the machine sees: whether RTCM comes, the document, what somebody without a login gets. */
const probe = `
import { connect } from 'node:net'
const rtcm = await new Promise((resolve) => {
  const socket = connect(${rtcmPort}, '127.0.0.1')
  const end = (seen) => { socket.destroy(); resolve(seen) }
  socket.on('data', (bytes) => { if (bytes[0] === 0xd3) end(true) })
  socket.on('error', () => end(false))
  setTimeout(end, 3_000, false)
})
const headers = { authorization: 'Bearer ${token}' }
const get = (init) => fetch('http://127.0.0.1/get-info', init).catch(() => ({ status: 0, json: () => ({}) }))
const anybody = (await get({})).status
const info = await (await get({ headers })).json()
console.log(JSON.stringify({ rtcm, anybody, codes: (info.base?.state?.errors ?? []).map(({ code }) => code), slot: info.esp?.partition }))
`

interface Seen {
  rtcm: boolean
  /** HTTP status that somebody without a login gets. */
  anybody: number
  codes: string[]
  slot?: string
}

interface Row {
  /** What is done to the disk of a station that ran, from \`sh\`. */
  damage: string
  /** An error that has to stand there then. */
  code?: string
  slot?: string
  /** Without a login; 200 when left out. */
  anybody?: number
}

const data = `${home}/data`
const store = `${data}/store`
const garbage = (file: string) => `head -c 4096 /dev/urandom >${file}`
const asFolder = (file: string) => `rm -rf ${file} && mkdir -p ${file}/x`
const asFifo = (file: string) => `rm -rf ${file} && mkfifo -m 666 ${file}`
const asDevice = (file: string) => `rm -rf ${file} && ln -s /dev/zero ${file}`
const asLoop = (file: string) => `rm -rf ${file} && ln -s ${basename(file)} ${file}`
const asHuge = (file: string) => `rm -rf ${file} && truncate -s 1T ${file} && chmod 644 ${file}`
const denied = (file: string) => `chown -R root: ${file} && chmod 000 ${file}`
const crash = (slot: string) =>
  `cd ${slot} && printf 'process.exit(3)' >rtk-base.mjs && find . -type f ! -name SHA256SUMS -exec sha256sum {} + >SHA256SUMS`
const options = (text: string) =>
  `printf 'RTK_BASE_OPTIONS="--set watchdog.proven_s=3 ${text}"\\n' >/etc/default/rtk-base`
const own = '/etc/rtk-base/variant.json'
/** Puts the folder of the service on a disk of its own, changes it there, and lets nobody write to it any more. */
const readOnly = (change: string) =>
  `mv ${home} /var/was; mkdir ${home}; mount -t tmpfs none ${home}; cp -a /var/was/. ${home}; rm -r /var/was; ${change}; mount -o remount,ro ${home}`
const newer = (number: number) =>
  `top=$(printf 'rtk-base store 2\\nnumber ${number}\\n.'); top=\${top%.}; printf '%ssha256 %s\\nx' "$top" "$(printf '%sx' "$top" | sha256sum | cut -c 1-64)" >${store}/snapshot-${number % 2}`

const rows: Readonly<Record<string, Row>> = {
  'state is missing': { damage: `rm ${home}/state`, code: 'slot-state-lost', slot: 'f' },
  'state is empty': { damage: `: >${home}/state`, code: 'slot-state-lost', slot: 'f' },
  'state is garbage': { damage: garbage(`${home}/state`), code: 'slot-state-lost', slot: 'f' },
  'state is a folder': { damage: asFolder(`${home}/state`), code: 'slot-state-lost', slot: 'f' },
  'state cannot be read': { damage: denied(`${home}/state`), code: 'slot-state-lost', slot: 'f' },
  'state.new is a folder': { damage: asFolder(`${home}/state.new`), slot: 'b' },
  'state is a FIFO': { damage: asFifo(`${home}/state`), code: 'slot-state-lost', slot: 'f' },
  'state.new is a FIFO, and there is a trial': {
    damage: `${asFifo(`${home}/state.new`)}; ${crash(`${home}/a`)}; printf 'good=b\\ntrial=a\\ntries=0\\nback=\\n' >${home}/state`,
    code: 'update-failed',
    slot: 'b',
  },
  'the good slot has a FIFO': { damage: asFifo(`${home}/b/rtk-base.mjs`), code: 'slot-damaged', slot: 'a' },
  'the digests of the good slot are a device': {
    damage: asDevice(`${home}/b/SHA256SUMS`),
    code: 'slot-damaged',
    slot: 'a',
  },
  'the good slot is missing': { damage: `rm -r ${home}/b`, code: 'slot-damaged', slot: 'a' },
  'the good slot is damaged': { damage: garbage(`${home}/b/rtk-base.mjs`), code: 'slot-damaged', slot: 'a' },
  'the good slot has no digests': { damage: `rm ${home}/b/SHA256SUMS`, code: 'slot-damaged', slot: 'a' },
  'the good slot cannot be read': { damage: denied(`${home}/b`), code: 'slot-damaged', slot: 'a' },
  'both slots are damaged': {
    damage: `${garbage(`${home}/a/rtk-base.mjs`)}; rm -r ${home}/b`,
    code: 'slot-damaged',
    slot: 'f',
  },
  'the good slot ends again and again': { damage: crash(`${home}/b`), code: 'update-failed', slot: 'a' },
  'the trial ends again and again': {
    damage: `${crash(`${home}/a`)}; printf 'good=b\\ntrial=a\\ntries=0\\nback=\\n' >${home}/state`,
    code: 'update-failed',
    slot: 'b',
  },
  'exits is garbage': { damage: garbage(`${home}/exits`) },
  'exits is a folder': { damage: asFolder(`${home}/exits`) },
  'exits is a FIFO': { damage: asFifo(`${home}/exits`) },
  'kept.json is huge': { damage: asHuge(`${home}/kept.json`) },
  'kept.json is garbage': { damage: garbage(`${home}/kept.json`) },
  'the options are missing': { damage: 'rm /etc/default/rtk-base', code: 'settings-missing', anybody: 401 },
  'the options are empty': { damage: ': >/etc/default/rtk-base', code: 'settings-missing', anybody: 401 },
  'the options are garbage': { damage: garbage('/etc/default/rtk-base'), code: 'settings-missing', anybody: 401 },
  'the options have a typing error': {
    damage: options(`--set http.prot=80 --set http.token=${token}`),
    code: 'settings-refused',
    anybody: 401,
  },
  'the options have an unknown flag': { damage: options('--colour red'), code: 'settings-refused', anybody: 401 },
  'the options are wrong, and none were kept': {
    damage: `rm ${home}/kept.json; ${options('--set http.prot=80')}`,
    code: 'settings-refused',
  },
  'the variant is empty': { damage: `mkdir -p /etc/rtk-base; : >${own}`, code: 'settings-refused', anybody: 401 },
  'the variant is cut': {
    damage: `mkdir -p /etc/rtk-base; head -c 60 ${home}/b/runtime/variants/field.json >${own}`,
    code: 'settings-refused',
    anybody: 401,
  },
  'the variant has a field of a newer version': {
    damage: `mkdir -p /etc/rtk-base; sed 's/^{/{"moon": 1,/' ${home}/b/runtime/variants/field.json >${own}`,
    code: 'settings-refused',
    anybody: 401,
  },
  'the variant cannot be read': {
    damage: `mkdir -p /etc/rtk-base; cp ${home}/b/runtime/variants/field.json ${own}; chmod 000 ${own}`,
    code: 'settings-refused',
    anybody: 401,
  },
  'the folder of the service is missing': { damage: `rm -r ${home}`, slot: 'f' },
  'the data folder is missing': { damage: `rm -r ${data}` },
  'a snapshot is a loop': { damage: asLoop(`${store}/snapshot-0`), code: 'store-damaged' },
  'a file of a plugin is a FIFO': {
    damage: `mkdir -p ${data}/files/integrity/continuity; ${asFifo(`${data}/files/integrity/continuity/last.json`)}`,
  },
  'the data folder is a file': { damage: `rm -r ${data}; : >${data}`, code: 'data-in-memory' },
  'the data folder cannot be read': { damage: denied(data), code: 'data-in-memory' },
  'the disk is read-only': { damage: readOnly(':'), code: 'store-unwritable', slot: 'b', anybody: 401 },
  'the disk is read-only, and the data folder is missing': {
    damage: readOnly(`rm -r ${data}`),
    code: 'data-in-memory',
    slot: 'b',
    anybody: 401,
  },
  'the disk is read-only and empty': {
    damage: readOnly(`rm -r ${home}/*`),
    code: 'data-in-memory',
    slot: 'f',
    anybody: 401,
  },
  'the store cannot be read': { damage: denied(store), code: 'data-in-memory' },
  'one generation of the settings is damaged': { damage: garbage(`${store}/snapshot-0`), code: 'store-damaged' },
  'one generation of the settings is missing': { damage: `rm ${store}/snapshot-1`, code: 'store-damaged' },
  'both generations are damaged': {
    damage: `${garbage(`${store}/snapshot-0`)}; : >${store}/snapshot-1`,
    code: 'store-reset',
  },
  'both generations are missing': { damage: `rm ${store}/snapshot-*`, code: 'store-reset' },
  'a generation cannot be read': { damage: denied(`${store}/snapshot-0`), code: 'data-in-memory' },
  'both generations are of a newer layout': { damage: `${newer(70)}; ${newer(71)}`, code: 'store-newer' },
  'before-update is garbage': { damage: garbage(`${store}/before-update`) },
  'the list of plugin updates is garbage': {
    damage: `mkdir -p ${data}/plugin-updates; ${garbage(`${data}/plugin-updates/index.json`)}`,
    code: 'plugin-updates-lost',
  },
  'a confirmed plugin update is gone': {
    damage: `mkdir -p ${data}/plugin-updates; bundle=$(sed -n 's/.*"sha256": *"\\([0-9a-f]\\{64\\}\\)".*/\\1/p' ${home}/b/manifest.json | head -n 1)
      printf '{"bundle":"%s","updates":{"rtcm":{"name":"rtcm","version":"9.0.0","folder":"rtcm-1","tries":1,"confirmed":true}},"failed":{}}' "$bundle" >${data}/plugin-updates/index.json`,
    code: 'plugin-update-rtcm',
  },
  'traces of the run before are garbage': {
    damage: ['run.json', 'ended'].map((name) => garbage(`${data}/${name}`)).join('; '),
  },
  'traces of the run before are folders': {
    damage: ['run.json', 'ended', 'control.sock'].map((name) => asFolder(`${data}/${name}`)).join('; '),
  },
  'files of plugins are garbage': {
    damage: `for file in $(find ${data}/files -type f); do ${garbage('"$file"')}; done`,
  },
  'files of plugins cannot be read': { damage: denied(`${data}/files`) },
  'files of plugins are a file': { damage: `rm -rf ${data}/files; : >${data}/files` },
}

t.test('whatever lies on the disk, RTCM flows again', { skip: machineOnly || noMachine() }, async (t) => {
  const machine = await installed(t)
  const sh = (script: string) => {
    const ran = machine.run('sh', '-c', script)
    if (ran.code !== 0) throw new Error(`${script}: ${ran.stderr}`)
    return ran
  }
  machine.write('/var/probe.mjs', probe)
  const seen = (): Seen => {
    const { stdout } = machine.run('node', '/var/probe.mjs')
    return stdout.startsWith('{') ? (JSON.parse(stdout) as Seen) : { rtcm: false, anybody: 0, codes: [] }
  }
  // A station with two updates behind it, that has run well.
  sh('systemctl stop rtk-base')
  sh(`for slot in a b; do cp -r /usr/lib/rtk-base/factory ${home}/$slot; done`)
  sh(`printf 'good=b\\ntrial=\\ntries=0\\nback=\\nprevious=a\\n' >${home}/state; chown -R rtk-base: ${home}`)
  sh(options(`--set http.token=${token}`))
  sh('systemctl start rtk-base')
  await until(() => machine.run('test', '-s', `${home}/kept.json`).code === 0, 'it has proved itself', limit_ms)
  t.match(seen(), { rtcm: true, anybody: 401, slot: 'b' })
  t.equal(
    machine.run('journalctl', '-u', 'rtk-base', '-p', 'err', '-o', 'cat', '-q').stdout,
    '',
    'no error in the journal',
  )
  t.match(
    machine.run('journalctl', '-u', 'rtk-base', '-p', 'info', '-o', 'cat', '-q').stdout,
    /listening at/,
    'the journal is kept',
  )
  sh(`systemctl stop rtk-base; cp -a ${home} /var/well; cp /etc/default/rtk-base /var/well-options`)

  const times: string[] = []
  /** `RTK_BASE_DISK="the disk"` for the rows that begin like this. */
  const isWanted = ([name]: [string, Row]) => name.startsWith(process.env.RTK_BASE_DISK ?? '')
  for (const [name, { damage, code, slot, anybody }] of Object.entries(rows).filter(isWanted)) {
    await t.test(name, async (t) => {
      sh(
        `systemctl stop rtk-base; umount -q ${home}; rm -rf ${home} /etc/rtk-base /etc/default/rtk-base /run/rtk-base; cp -a /var/well ${home}`,
      )
      sh('cp /var/well-options /etc/default/rtk-base')
      sh(damage)
      const begin = performance.now()
      machine.run('systemctl', 'start', '--no-block', 'rtk-base')
      let last = seen()
      const isWell = () => {
        last = seen()
        return last.rtcm && (code === undefined || last.codes.includes(code))
      }
      await until(isWell, `RTCM and ${code}`, limit_ms).catch(() => {
        t.comment(machine.run('journalctl', '-u', 'rtk-base', '--no-pager', '-n', '40', '-o', 'cat').stdout)
      })
      t.match(last, { rtcm: true, ...(slot && { slot }) })
      if (code) t.ok(last.codes.includes(code), `${code} in ${last.codes.join(', ')}`)
      if (anybody === 401) t.equal(last.anybody, 401, 'the login stands')
      times.push(`${((performance.now() - begin) / 1000).toFixed(0).padStart(3)} s  ${name}`)
    })
  }
  t.comment(times.join('\n'))
})

async function installed(t: Test): Promise<Machine> {
  const folder = t.testdir()
  const file = join(folder, 'field.json')
  writeFileSync(file, JSON.stringify(variant))
  const built = await rtkBase(['build', file, '--deb', '--out', folder, '--release', '1.0.0', '--target', 'linux-x64'])
  t.match(built, { code: 0 }, built.stderr)
  const deb = /^(.*\.deb): /m.exec(built.stdout)?.[1] ?? ''
  const root = copyFor(t, noPeer('debootstrap') ? '/' : debian13(t))
  copyFileSync(deb, join(root, 'var', basename(deb)))
  const done = inCopy(root, 'dpkg', '-i', '--force-depends', `/var/${basename(deb)}`)
  t.equal(done.code, 0, done.stderr)
  return startMachine(t, root)
}
