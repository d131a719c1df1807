/** Automatic functions of a router: restart if a host does not answer, and blocking after failed logins. */
import { ask, get, overUbus, post, put, ubus, uciCommit, uciGet, uciSet, write } from './build.js'
import type { IpBlock, PingReboot, Rows } from './operations.js'
import { fieldOf, firstOf, isOn, numberOf, sectionsOf, textOf } from './parse.js'

const pings = '/api/auto_reboot/ping_wget/config'
const blocks = '/api/access_control/security/config'

const pingIn = (values: unknown, host1?: unknown): PingReboot => ({
  enabled: isOn(fieldOf(values, 'enable')),
  host: textOf(firstOf(fieldOf(values, 'host')), host1),
  ...(Array.isArray(fieldOf(values, 'host')) && { isList: true }),
})
const pingValues = ({ enabled, host, isList }: PingReboot) => ({
  enable: enabled ? '1' : '0',
  action: '1',
  ...(host !== '' && { host: isList ? [host] : host }),
})

/** The section that has the number of attempts. */
const blockSection = (answer: unknown, attempts: string) =>
  sectionsOf(answer).find((section) => attempts in section.values)

function blockOf(values: unknown): IpBlock | undefined {
  const attempts = numberOf(fieldOf(values, 'max_attempt_count'))
  if (attempts === undefined) return undefined
  return { enabled: isOn(fieldOf(values, 'enabled')), attempts, clearedAtReboot: isOn(fieldOf(values, 'reboot_clear')) }
}
const blockValues = ({ attempts }: { attempts: number }) => ({
  enabled: '1',
  max_attempt_count: String(attempts),
  reboot_clear: '1',
})

export const protectionRows: Rows<
  'pingReboot' | 'setPingReboot' | 'pingSection' | 'ipBlock' | 'setIpBlock' | 'ipBlockSection'
> = {
  pingReboot: {
    ...overUbus(ask(uciGet('ping_reboot'), (answer) => pingIn(sectionsOf(answer, 'ping_reboot')[0]?.values))),
    '7/rest': [ask(get(pings), (answer) => pingIn(firstOf(answer), fieldOf(firstOf(answer), 'host1')))],
  },
  setPingReboot: {
    ...overUbus(
      write({
        needs: ['pingSection'],
        calls: (wanted, { pingSection }) => [
          pingSection === ''
            ? ubus('uci', 'add', { config: 'ping_reboot', type: 'ping_reboot', values: pingValues(wanted) })
            : uciSet('ping_reboot', pingSection, pingValues(wanted)),
          uciCommit('ping_reboot'),
        ],
      }),
    ),
    '7/rest': [
      write({
        needs: ['pingSection'],
        calls: (wanted, { pingSection }) => [
          pingSection === ''
            ? post(pings, { type: 'ping', ...pingValues(wanted) })
            : put(`${pings}/${pingSection}`, pingValues(wanted)),
        ],
      }),
    ],
  },
  pingSection: {
    ...overUbus(ask(uciGet('ping_reboot'), (answer) => sectionsOf(answer, 'ping_reboot')[0]?.name ?? '')),
    '7/rest': [ask(get(pings), (answer) => textOf(fieldOf(firstOf(answer), 'id')))],
  },
  ipBlock: {
    'legacy/ubus': [
      ask(uciGet('logtrigger'), (answer) => {
        const values = blockSection(answer, 'maxfail')?.values
        const attempts = numberOf(values?.maxfail)
        if (attempts === undefined) return undefined
        return { enabled: isOn(values?.enabled ?? '1'), attempts, clearedAtReboot: undefined }
      }),
    ],
    '7/ubus': [ask(uciGet('ip_blockd'), (answer) => blockOf(blockSection(answer, 'max_attempt_count')?.values))],
    '7/rest': [ask(get(blocks), (answer) => blockOf(firstOf(answer)))],
  },
  setIpBlock: {
    'legacy/ubus': [
      write({
        needs: ['ipBlockSection'],
        calls: ({ attempts }, { ipBlockSection }) => [
          uciSet('logtrigger', ipBlockSection, { enabled: '1', maxfail: String(attempts) }),
          uciCommit('logtrigger'),
        ],
      }),
    ],
    '7/ubus': [
      write({
        needs: ['ipBlockSection'],
        calls: (wanted, { ipBlockSection }) => [
          uciSet('ip_blockd', ipBlockSection, blockValues(wanted)),
          uciCommit('ip_blockd'),
        ],
      }),
    ],
    '7/rest': [write({ calls: (wanted) => [put(blocks, blockValues(wanted))] })],
  },
  ipBlockSection: {
    'legacy/ubus': [ask(uciGet('logtrigger'), (answer) => blockSection(answer, 'maxfail')?.name)],
    '7/ubus': [ask(uciGet('ip_blockd'), (answer) => blockSection(answer, 'max_attempt_count')?.name)],
  },
}
