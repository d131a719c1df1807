/** RUTOS 06.x and 1.x over ubus: there are no modem objects, so the modem is reached by `gsmctl`. */
import { limits_ms } from '../transport/index.js'
import { gsmctl, mustSucceed, run, ubus, uciCommit, uciGet, uciSet, write } from './build.js'
import { networkOf, packetServiceOf, plmnOf, scannedByAt, signalOf, simStateOf, tenthsOf } from './modem-values.js'
import type { Column } from './operations.js'
import { fieldOf, isObject, isOn, macOf, numberOf, outputOf, sectionsOf, textOf } from './parse.js'
import { sharedUbus, versionFile } from './shared-ubus.js'

/** `gsmctl` with each of the flags. */
const asked = (flags: readonly string[]) =>
  flags.map((flag) => gsmctl([flag], { optional: true, limit_ms: limits_ms.info }))

/** What it prints for "not available". */
const nothing = /^(n\/?a|unknown|none|-|error.*|not available)$/i

function said(answer: unknown): string {
  const text = textOf(outputOf(answer))
  return nothing.test(text) ? '' : text
}
const anySaid = (answers: readonly unknown[]) => answers.some((answer) => outputOf(answer) !== undefined)

const reload = run('/etc/init.d/network', ['reload'], { optional: true, limit_ms: limits_ms.info })
/** `gsmctl -A` prints what the modem answered. */
const modemAccepts = { accepts: (answer: unknown) => !/error/i.test(outputOf(answer) ?? 'error') }
/** A scan outlasts the time limit of `file.exec`, so it runs in the background. */
const scanResult = '/tmp/rtk-base-scan'
const scanDone = 'rtk-base: done'
const scanScript = `rm -f ${scanResult}; (gsmctl -A 'AT+COPS=?' > ${scanResult} 2>&1; echo '${scanDone}' >> ${scanResult}) > /dev/null 2>&1 &`
const mobileInterface = 'wwan0'

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
  modemIdentity: [
    {
      together: true,
      calls: () => asked(['-i', '-m', '-w', '-y']),
      read(answers) {
        if (!anySaid(answers)) return undefined
        const [imei, model, manuf, rev] = answers.map(said)
        // AT+COPS is in every modem of this generation.
        return { imei: imei ?? '', model: model ?? '', manuf: manuf ?? '', rev: rev ?? '', operatorControl: true }
      },
    },
  ],
  signal: [
    {
      together: true,
      calls: () => asked(['-q', '-W', '-M', '-Z']),
      read(answers) {
        if (!anySaid(answers)) return undefined
        const [rssi, rsrp, rsrq, sinr] = answers.map(said)
        return signalOf({ rssi, rsrp, rsrq, sinr })
      },
    },
  ],
  registration: [
    {
      together: true,
      calls: () => asked(['-g', '-o', '-f', '-t', '-C', '-j', '-P']),
      read(answers) {
        if (!anySaid(answers)) return undefined
        const [network, operator = '', plmn, technology = '', cellId = '', connection = '', packets] = answers.map(said)
        return {
          network: networkOf(undefined, network),
          operator,
          carrier: operator,
          plmn: plmnOf(plmn),
          technology,
          cellId,
          packetService: packetServiceOf(undefined, packets),
          connected: connection === '' ? undefined : /^connected/i.test(connection),
        }
      },
    },
  ],
  sim: [
    {
      together: true,
      calls: () => asked(['-z', '-x', '-J', '-u']),
      read(answers) {
        if (!anySaid(answers)) return undefined
        const [state, imsi, iccid, pin] = answers.map(said)
        const digits = (text = '') => /\d{6,22}F?/i.exec(text)?.[0] ?? ''
        return {
          state: simState(state, pin) ?? (digits(imsi) ? 'ready' : 'error'),
          imsi: digits(imsi),
          iccid: digits(iccid),
        }
      },
    },
  ],
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
      calls: () => [uciGet('simcard', 'sim1')],
      read([answer]) {
        const values = fieldOf(answer, 'values')
        const manual = fieldOf(values, 'mode') === 'manual'
        return { plmn: manual ? textOf(fieldOf(values, 'numeric')) || undefined : undefined }
      },
    },
  ],
  selectOperator: [
    write({
      calls({ plmn }) {
        const select = plmn === undefined ? 'AT+COPS=0' : `AT+COPS=1,2,"${plmn}"`
        const values: Record<string, string> =
          plmn === undefined ? { mode: 'auto', numeric: '' } : { mode: 'manual', numeric: plmn }
        return [
          gsmctl(['-A', select], { limit_ms: limits_ms.scan, ...modemAccepts }),
          uciSet('simcard', 'sim1', values),
          uciCommit('simcard'),
        ]
      },
    }),
  ],
  apn: [
    {
      calls: () => [uciGet('simcard', 'sim1')],
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
      calls({ apn, user, pswd, auth }) {
        const values = { apn, username: user, password: pswd, passw: pswd, auth, auto_apn: apn === '' ? '1' : '0' }
        return [
          uciSet('simcard', 'sim1', values),
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
  simId: [],
  mobileDevice: [],
}
