/** RUTOS 06.x and 1.x over ubus: there are no modem objects, so the modem is reached by `gsmctl`. */
import { limits_ms } from '../transport/index.js'
import { gsmctl, mustSucceed, run, ubus, uciCommit, uciGet, uciSet, write } from './build.js'
import {
  networkOf,
  packetServiceOf,
  plmnOf,
  scannedByAt,
  signalOf,
  simStateOf,
  slotOf,
  tenthsOf,
} from './modem-values.js'
import type { Column, Way } from './operations.js'
import { fieldOf, isObject, isOn, macOf, numberOf, outputOf, sectionsOf, textOf } from './parse.js'
import { sharedUbus, versionFile } from './shared-ubus.js'

/** What it prints for "not available". */
const nothing = /^(n\/?a|unknown|none|-|error.*|not available)$/i

function said(answer: unknown): string {
  const text = textOf(outputOf(answer))
  return nothing.test(text) ? '' : text
}
const anySaid = (answers: readonly unknown[]) => answers.some((answer) => outputOf(answer) !== undefined)

/** One line for each flag: the way in which `gsmctl` answers joined ones. */
function linesOf(answer: unknown, count: number): string[] | undefined {
  if (outputOf(answer) === undefined) return undefined
  const lines = String(fieldOf(answer, 'stdout')).replace(/\n$/, '').split('\n')
  return lines.length === count ? lines.map((line) => said({ stdout: line })) : undefined
}

/** What `gsmctl` says to each of the letters: in one run of it, which takes a second on a slow router, else one by one. */
function asked<O>(letters: string, read: (texts: readonly string[]) => O): Way<undefined, O>[] {
  const flags = [...letters].map((letter) => `-${letter}`)
  const info = { limit_ms: limits_ms.info }
  return [
    {
      isTrial: true,
      calls: () => [gsmctl([`-${letters}`], info)],
      read([answer]) {
        const lines = linesOf(answer, letters.length)
        return lines && read(lines)
      },
    },
    {
      together: true,
      calls: () => flags.map((flag) => gsmctl([flag], { optional: true, ...info })),
      read: (answers) => (anySaid(answers) ? read(answers.map(said)) : undefined),
    },
  ]
}

const reload = run('/etc/init.d/network', ['reload'], { optional: true, limit_ms: limits_ms.info })
/** `gsmctl -A` prints what the modem answered. */
const modemAccepts = { accepts: (answer: unknown) => !/error/i.test(outputOf(answer) ?? 'error') }
/** A scan outlasts the time limit of `file.exec`, so it runs in the background. */
const scanResult = '/tmp/rtk-base-scan'
const scanDone = 'rtk-base: done'
const scanScript = `rm -f ${scanResult}; (gsmctl -A 'AT+COPS=?' > ${scanResult} 2>&1; echo '${scanDone}' >> ${scanResult}) > /dev/null 2>&1 &`
const mobileInterface = 'wwan0'
const simSection = (slot: string) => `sim${slot}`

/** An inserted SIM may still wait for its PIN. */
function simState(slot: string | undefined, pin: string | undefined) {
  const inserted = simStateOf(undefined, slot)
  return inserted === 'ready' ? (simStateOf(undefined, pin) ?? inserted) : inserted
}

export const legacyUbus: Column = {
  ...sharedUbus,
  version: versionFile,
  board: [
    {
      together: true,
      calls: () => ['sn', 'mac', 'name', 'hwver', 'batch'].map((what) => run('mnf_info', [what], { optional: true })),
      read(answers) {
        const [serial, mac, hw, hwver, hwbatch] = answers.map(said)
        const macaddr = macOf(mac)
        if (!serial && macaddr === '') return undefined
        return { serial: serial ?? '', macaddr, hw: hw ?? '', hwver: hwver ?? '', hwbatch: hwbatch ?? '' }
      },
    },
  ],
  // AT+COPS is in every modem of this generation.
  modemIdentity: asked('imwy', ([imei = '', model = '', manuf = '', rev = '']) => {
    return { imei, model, manuf, rev, operatorControl: true }
  }),
  signal: asked('qWMZ', ([rssi, rsrp, rsrq, sinr]) => signalOf({ rssi, rsrp, rsrq, sinr })),
  registration: asked(
    'goftCjP',
    ([network, operator = '', plmn, technology = '', cellId = '', connection = '', packets]) => ({
      network: networkOf(undefined, network),
      operator,
      carrier: operator,
      plmn: plmnOf(plmn),
      technology,
      cellId,
      packetService: packetServiceOf(undefined, packets),
      connected: connection === '' ? undefined : /^connected/i.test(connection),
    }),
  ),
  sim: asked('zxJu', ([state, imsi, iccid, pin]) => {
    const digits = (text = '') => /\d{6,22}F?/i.exec(text)?.[0] ?? ''
    return {
      state: simState(state, pin) ?? (digits(imsi) ? 'ready' : 'error'),
      imsi: digits(imsi),
      iccid: digits(iccid),
    }
  }),
  traffic: [
    {
      together: true,
      calls: () => [gsmctl(['-e', mobileInterface]), gsmctl(['-r', mobileInterface])],
      read(answers) {
        const [sent, recvd] = answers.map((answer) => numberOf(said(answer)))
        return sent === undefined || recvd === undefined ? undefined : { sent, recvd }
      },
    },
  ],
  temperature: [
    {
      calls: () => [gsmctl(['-c'])],
      read: ([answer]) => (outputOf(answer) === undefined ? undefined : { celsius: tenthsOf(said(answer)) }),
    },
  ],
  scanOperators: [
    {
      writes: true,
      calls: () => [run('/bin/sh', ['-c', scanScript], mustSucceed)],
      poll: { calls: [run('cat', [scanResult])], every_ms: 5_000, most_ms: limits_ms.scan },
      read([answer]) {
        const output = outputOf(answer) ?? ''
        // A modem that refuses lists nobody.
        return output.includes(scanDone) ? scannedByAt(output) : undefined
      },
    },
  ],
  operatorSelection: [
    {
      needs: ['simSlot'],
      calls: (_input, { simSlot }) => [uciGet('simcard', simSection(simSlot))],
      read([answer]) {
        const values = fieldOf(answer, 'values')
        const manual = fieldOf(values, 'mode') === 'manual'
        return { plmn: manual ? textOf(fieldOf(values, 'numeric')) || undefined : undefined }
      },
    },
  ],
  selectOperator: [
    write({
      needs: ['simSlot'],
      calls({ plmn }, { simSlot }) {
        const select = plmn === undefined ? 'AT+COPS=0' : `AT+COPS=1,2,"${plmn}"`
        const values: Record<string, string> =
          plmn === undefined ? { mode: 'auto', numeric: '' } : { mode: 'manual', numeric: plmn }
        return [
          gsmctl(['-A', select], { limit_ms: limits_ms.scan, ...modemAccepts }),
          uciSet('simcard', simSection(simSlot), values),
          uciCommit('simcard'),
        ]
      },
    }),
  ],
  apn: [
    {
      needs: ['simSlot'],
      calls: (_input, { simSlot }) => [uciGet('simcard', simSection(simSlot))],
      read([answer]) {
        const values = fieldOf(answer, 'values')
        if (!isObject(values)) return undefined
        const auth = textOf(values.auth)
        return {
          apn: isOn(values.auto_apn) ? '' : textOf(values.apn),
          user: textOf(values.username),
          pswd: textOf(values.password),
          auth: auth === 'pap' || auth === 'chap' ? auth : 'none',
        }
      },
    },
  ],
  setApn: [
    write({
      needs: ['simSlot'],
      calls({ apn, user, pswd, auth }, { simSlot }) {
        const values = { apn, username: user, password: pswd, passw: pswd, auth, auto_apn: apn === '' ? '1' : '0' }
        return [
          uciSet('simcard', simSection(simSlot), values),
          uciSet('network', 'ppp', values, { optional: true }),
          uciCommit('simcard'),
          uciCommit('network', { optional: true }),
          reload,
        ]
      },
    }),
  ],
  rebootModem: [
    write({ calls: () => [gsmctl(['-A', 'AT+CFUN=1,1'], { limit_ms: limits_ms.info, ...modemAccepts })] }),
    write({ calls: () => [gsmctl(['-Q'], { limit_ms: limits_ms.info, ...mustSucceed })] }),
  ],
  ipBlock: [
    {
      calls: () => [ubus('uci', 'get', { config: 'logtrigger' })],
      read([answer]) {
        const values = sectionsOf(answer).find((section) => 'maxfail' in section.values)?.values
        const attempts = numberOf(values?.maxfail)
        if (attempts === undefined) return undefined
        return { enabled: isOn(values?.enabled ?? '1'), attempts, clearedAtReboot: undefined }
      },
    },
  ],
  setIpBlock: [
    write({
      needs: ['ipBlockSection'],
      calls: ({ attempts }, { ipBlockSection }) => [
        uciSet('logtrigger', ipBlockSection, { enabled: '1', maxfail: String(attempts) }),
        uciCommit('logtrigger'),
      ],
    }),
  ],
  ipBlockSection: [
    {
      calls: () => [ubus('uci', 'get', { config: 'logtrigger' })],
      read: ([answer]) => sectionsOf(answer).find((section) => 'maxfail' in section.values)?.name,
    },
  ],
  modemId: [],
  // No modem has a name; a second one is not used.
  modems: [],
  simId: [],
  simSlot: [{ calls: () => [gsmctl(['-T'])], read: ([answer]) => slotOf(said(answer)) }],
  mobileDevice: [],
}
