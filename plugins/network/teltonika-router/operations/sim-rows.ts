/** Settings of the SIM in use: operator and APN. */
import type { ApnSettings, ScannedOperator } from 'rtk-base/services'
import { limits_ms } from '../transport/call.js'
import {
  ask,
  askWith,
  get,
  gsmctl,
  mobileSection,
  modem,
  modemAccepts,
  mustSucceed,
  optional,
  post,
  put,
  run,
  slow,
  ubus,
  uciCommit,
  uciGet,
  uciSet,
  write,
} from './build.js'
import { name, text } from './fields.js'
import { scannedByAt, scannedOf, slotOf } from './modem-values.js'
import type { Input, RouterFactIds, Rows, Way } from './operations.js'
import { fieldOf, firstOf, isObject, isOn, numberOf, outputOf, textOf } from './parse.js'

const legacySection = (slot: string) => `sim${slot}`
const currentSection = (slot: string) => `@sim[${Number(slot) - 1}]`
const ofLegacySim = ({ simSlot }: RouterFactIds) => uciGet('simcard', legacySection(simSlot))
const apnPath = (slot: string) => `/api/interfaces/config/${mobileSection(slot)}`

/** REST has the settings of the SIM below the modem from 7.06 on. */
const simPaths = (modemId: string) => [`/api/sim_cards/config`, `/api/modems/${modemId}/sim_cards/config`] as const

/** One way for each of both paths. */
const byBothPaths = <W>(way: (pathOf: (modemId: string) => string) => W): W[] =>
  ([0, 1] as const).map((which) => way((modemId) => simPaths(modemId)[which]))

/** The SIM in use among those of all modems. */
function simIn(answer: unknown, { modemId, simSlot }: RouterFactIds): unknown {
  const all = Array.isArray(answer) ? answer : [answer]
  const own = all.filter((one) => ['', modemId].includes(textOf(fieldOf(one, 'modem'))))
  return own.find((one) => slotOf(fieldOf(one, 'position')) === simSlot) ?? own[Number(simSlot) - 1] ?? own[0]
}
const readSim = <O>(read: (sim: unknown) => O | undefined): Way<undefined, O>[] =>
  byBothPaths((pathOf) =>
    askWith(
      ['modemId', 'simSlot'],
      ({ modemId }) => get(pathOf(modemId)),
      (answer, facts) => read(simIn(answer, facts)),
    ),
  )

/** 7.x has the same names over ubus and REST. */
function selectedIn(sim: unknown): { plmn: string | undefined } {
  const isManual = textOf(fieldOf(sim, 'operator')).startsWith('manual')
  return { plmn: isManual ? textOf(fieldOf(sim, 'opernum')) || undefined : undefined }
}

/** @param password names of the field */
function apnIn(values: unknown, ...password: readonly string[]): ApnSettings | undefined {
  if (!isObject(values)) return undefined
  const auth = textOf(values.auth)
  return {
    apn: isOn(values.auto_apn) ? '' : textOf(values.apn),
    user: textOf(values.username),
    pswd: text(...password)(values),
    auth: auth === 'pap' || auth === 'chap' ? auth : 'none',
  }
}
const apnValues = ({ apn, user, pswd, auth }: ApnSettings) => ({
  apn,
  username: user,
  password: pswd,
  auth,
  auto_apn: apn === '' ? '1' : '0',
})

/** A scan outlasts the time limit of `file.exec`, so it runs in the background. The simulated router recognises this text. */
const scanResult = '/tmp/rtk-base-scan'
const scanDone = 'rtk-base: done'
export const scanScript = `rm -f ${scanResult}; (gsmctl -A 'AT+COPS=?' > ${scanResult} 2>&1; echo '${scanDone}' >> ${scanResult}) > /dev/null 2>&1 &`
const scanLimit = { limit_ms: limits_ms.scan }

const currentScan = { plmn: 'oper_num', name: 'oper_name', technology: 'act', state: 'state_id', stateText: 'state' }
const restScan = {
  plmn: 'num_name',
  name: 'op_name',
  technology: 'net_access_type',
  state: 'status_code',
  stateText: 'status',
}

/** @param names of the fields of a found network */
function scannedIn(list: unknown, names: typeof currentScan): ScannedOperator[] | undefined {
  if (!Array.isArray(list)) return undefined
  return list.flatMap((one) => {
    const of = (field: keyof typeof names) => fieldOf(one, names[field])
    const operator = { plmn: of('plmn'), technology: of('technology'), state: of('state'), stateText: of('stateText') }
    return scannedOf({ ...operator, names: [of('name'), fieldOf(one, 'short_name')] }) ?? []
  })
}

export const simRows: Rows<'scanOperators' | 'operatorSelection' | 'selectOperator' | 'apn' | 'setApn' | 'simId'> = {
  scanOperators: {
    'legacy/ubus': [
      {
        writes: true,
        calls: () => [run('/bin/sh', ['-c', scanScript], mustSucceed)],
        poll: { calls: [run('cat', [scanResult])], every_ms: 5_000, most_ms: limits_ms.scan },
        read([answer]) {
          const output = outputOf(answer) ?? ''
          // A rejecting modem lists no networks.
          return output.includes(scanDone) ? scannedByAt(output) : undefined
        },
      },
    ],
    '7/ubus': [
      {
        writes: true,
        calls: () => [ubus(modem, 'scan_operators', {}, scanLimit)],
        read: ([answer]) => scannedIn(fieldOf(answer, 'operators'), currentScan),
      },
    ],
    '7/rest': [
      {
        writes: true,
        needs: ['modemId'],
        calls: (_input, { modemId }) => [post(`/api/modems/${modemId}/actions/scan_network`, undefined, scanLimit)],
        read: ([answer]) => scannedIn(answer, restScan),
      },
    ],
  },
  operatorSelection: {
    'legacy/ubus': [
      askWith(['simSlot'], ofLegacySim, (answer) => ({
        plmn: fieldOf(answer, 'values', 'mode') === 'manual' ? name('values.numeric')(answer) : undefined,
      })),
    ],
    '7/ubus': [
      ask(ubus(modem, 'get_operator_selection'), (answer) => {
        if (!isObject(answer)) return undefined
        const isManual = [2, 5].includes(numberOf(answer.mode_id) ?? 0) || /manual/i.test(textOf(answer.mode))
        const plmn = /^\d{5,6}$/.exec(textOf(answer.operator))?.[0]
        // A manual selection written as a name is useless here: the next alternative has the digits.
        return isManual && plmn === undefined ? undefined : { plmn: isManual ? plmn : undefined }
      }),
      askWith(
        ['simSlot'],
        ({ simSlot }) => uciGet('simcard', currentSection(simSlot)),
        (answer) => selectedIn(fieldOf(answer, 'values')),
      ),
    ],
    '7/rest': readSim(selectedIn),
  },
  selectOperator: {
    'legacy/ubus': [
      write({
        needs: ['simSlot'],
        calls({ plmn }, { simSlot }) {
          const select = plmn === undefined ? 'AT+COPS=0' : `AT+COPS=1,2,"${plmn}"`
          const values = plmn === undefined ? { mode: 'auto', numeric: '' } : { mode: 'manual', numeric: plmn }
          return [
            gsmctl(['-A', select], { ...scanLimit, ...modemAccepts }),
            uciSet('simcard', legacySection(simSlot), values),
            uciCommit('simcard'),
          ]
        },
      }),
    ],
    '7/ubus': [
      write({
        needs: ['simSlot'],
        calls({ plmn }, { simSlot }) {
          const selection =
            plmn === undefined ? { mode: 'auto' } : { mode: 'manual', format: 'numeric', operator: plmn }
          const values = plmn === undefined ? { operator: 'auto', opernum: '' } : { operator: 'manual', opernum: plmn }
          return [
            ubus(modem, 'set_operator_selection', selection, scanLimit),
            // A setting only in the modem is lost when the mobile service reloads.
            uciSet('simcard', currentSection(simSlot), values),
            uciCommit('simcard', slow),
          ]
        },
      }),
    ],
    '7/rest': byBothPaths((pathOf) =>
      write<Input<'selectOperator'>>({
        needs: ['modemId', 'simId'],
        calls({ plmn }, { modemId, simId }) {
          const selection = plmn === undefined ? { operator: 'auto' } : { operator: 'manual', opernum: plmn }
          return [put(`${pathOf(modemId)}/${simId}`, selection, scanLimit)]
        },
      }),
    ),
  },
  apn: {
    'legacy/ubus': [askWith(['simSlot'], ofLegacySim, (answer) => apnIn(fieldOf(answer, 'values'), 'password'))],
    '7/ubus': [
      askWith(
        ['simSlot'],
        ({ simSlot }) => uciGet('network', mobileSection(simSlot)),
        (answer) => apnIn(fieldOf(answer, 'values'), 'password', 'passw'),
      ),
    ],
    '7/rest': [
      askWith(
        ['simSlot'],
        ({ simSlot }) => get(apnPath(simSlot)),
        (answer) => apnIn(firstOf(answer), 'password'),
      ),
    ],
  },
  // `password` takes effect.
  setApn: {
    'legacy/ubus': [
      write({
        needs: ['simSlot'],
        calls(wanted, { simSlot }) {
          const values = { ...apnValues(wanted), passw: wanted.pswd }
          return [
            uciSet('simcard', legacySection(simSlot), values),
            uciSet('network', 'ppp', values, optional),
            uciCommit('simcard'),
            uciCommit('network', optional),
            run('/etc/init.d/network', ['reload'], { ...optional, ...slow }),
          ]
        },
      }),
    ],
    '7/ubus': [
      write({
        needs: ['simSlot'],
        calls: (wanted, { simSlot }) => [
          uciSet('network', mobileSection(simSlot), { ...apnValues(wanted), passw: wanted.pswd }),
          uciCommit('network', slow),
        ],
      }),
    ],
    '7/rest': [
      write({
        needs: ['simSlot'],
        calls: (wanted, { simSlot }) => [put(apnPath(simSlot), apnValues(wanted), slow)],
      }),
    ],
  },
  simId: { '7/rest': readSim(name('id')) },
}
