/** The code that decides whether a station tells the truth, serves and stays up, and the test files that say how. */
export interface Area {
  readonly name: string
  /** Source files, or folders whose sources all belong to it. */
  readonly code: readonly string[]
  /** Below build/test, without `.test.js`. */
  readonly tests: readonly string[]
  /** Mutations of a run. */
  readonly sample: number
  /** Share of them that the tests have to notice; default: 0.85. */
  readonly wanted?: number
}

/** Where a mistake sends wrong corrections, lets strangers in, or loses the station. */
const decisive = 0.9

const zed = (name: string) => `plugins/gnss-zed/${name}`
const survey = (name: string) => `plugins/survey-in/${name}`
const surveyTests = [
  'gnss/integrity',
  'gnss/survey',
  'gnss/survey-movement',
  'gnss/survey-run',
  'plugins/gnss/survey-in',
  'plugins/gnss/confirm-position',
]

export const areas: readonly Area[] = [
  {
    name: 'gate',
    code: ['gate', 'stream', 'subscribers', 'history', 'epochs', 'station-messages'].map((f) => `plugins/rtcm/${f}.ts`),
    tests: ['plugins/gnss/rtcm', 'plugins/gnss/survey-in-integrity'],
    sample: 12,
    wanted: decisive,
  },
  {
    name: 'verdict',
    code: ['plugins/verdict', 'plugins/leds/patterns.ts', 'plugins/system/self-test/checks.ts'],
    tests: ['plugins/verdict', 'plugins/leds', 'plugins/system', 'plugins/gnss/receiver-safety'],
    sample: 14,
  },
  {
    name: 'phase',
    code: ['plugins/integrity/phase'],
    tests: ['gnss/integrity', 'gnss/phase-watch'],
    sample: 14,
  },
  {
    name: 'integrity',
    code: [
      ...[
        'code',
        'warm',
        'monitor.ts',
        'comparison.ts',
        'position-check.ts',
        'antenna-phases.ts',
        'watch-reports.ts',
      ].map((part) => `plugins/integrity/${part}`),
      'runtime/lib/gnss/position-window.ts',
    ],
    tests: [...surveyTests, 'gnss/ranges', 'plugins/gnss/survey-in-integrity', 'plugins/gnss/survey-in-simulator'],
    sample: 12,
    wanted: decisive,
  },
  {
    name: 'survey',
    code: [survey('survey'), survey('reference')],
    tests: surveyTests,
    sample: 14,
  },
  {
    name: 'gnss-zed',
    code: [zed('ubx'), zed('configure'), zed('facts')],
    tests: [
      'gnss/ubx',
      'plugins/gnss/receiver-output',
      ...['-facts', '', '-configure', '-link', '-simulator'].map((part) => `plugins/gnss/gnss-zed${part}`),
    ],
    sample: 20,
  },
  {
    name: 'receiver drivers',
    code: [
      ...['gnss-auto', 'gnss-quectel', 'gnss-septentrio', 'gnss-unicore'].map((name) => `plugins/${name}`),
      ...['runtime/lib/link/driver', 'runtime/lib/gnss/framings'],
    ],
    tests: ['-auto', '-quectel', '-septentrio', '-unicore']
      .map((family) => `plugins/gnss/gnss${family}`)
      .concat('plugins/gnss/receiver-families'),
    sample: 14,
  },
  {
    name: 'orbits',
    code: ['runtime/lib/gnss/orbits', 'plugins/integrity/orbit-sky.ts'],
    tests: ['gnss/orbits', 'gnss/phase-watch'],
    sample: 12,
  },
  {
    name: 'router login',
    code: ['guard', 'ladder', 'vault'].map((file) => `plugins/teltonika-router/credentials/${file}.ts`),
    tests: ['plugins/router/router-login', 'plugins/router/router-link'],
    sample: 12,
  },
  {
    name: 'registry',
    code: [
      'runtime/kernel/registries',
      'runtime/platform/validate.ts',
      'runtime/kernel/plugins',
      'runtime/kernel/instance',
      'runtime/platform/guard',
    ],
    tests: [
      'kernel/validate',
      'kernel/instance',
      'kernel/plugins',
      'kernel/parts',
      'kernel/registry',
      'kernel/manager',
      'kernel/ownership',
      'kernel/outside',
      'kernel/errors',
      'kernel/loader',
      'kernel/metrics',
      'end-to-end/crash',
    ],
    sample: 16,
  },
  {
    name: 'store',
    code: ['runtime/platform/store', 'runtime/platform/files/durable-file.ts', 'runtime/platform/files/state-file.ts'],
    tests: ['kernel/parts', 'kernel/store', 'kernel/kept-settings', 'kernel/plain-files'],
    sample: 12,
    wanted: decisive,
  },
  {
    name: 'access and admission',
    code: [
      ...['access', 'origin', 'local-network'].map((part) => `runtime/gateway/http/${part}.ts`),
      'runtime/platform/fair-share',
      ...['door', 'listening'].map((file) => `runtime/gateway/net/${file}.ts`),
      'runtime/gateway/login',
    ],
    tests: ['kernel/parts', 'kernel/http', 'kernel/http-login', 'kernel/passwords', 'kernel/net', 'kernel/limits'],
    sample: 14,
  },
  {
    name: 'HTTP server',
    code: [
      ...['body', 'captive-portal', 'connection', 'app', 'proxies', 'replies', 'server'].map(
        (file) => `runtime/gateway/http/${file}.ts`,
      ),
      'runtime/gateway/http/routes',
    ],
    tests: ['kernel/parts', 'kernel/http', 'kernel/http-login'],
    sample: 12,
  },
  {
    name: 'codec and framer',
    code: ['rtcm', 'framer.ts', 'crc24q.ts', 'nmea.ts', 'ubx.ts'].map((part) => `runtime/lib/gnss/${part}`),
    tests: ['gnss/rtcm', 'gnss/rtcm-times', 'gnss/framer', 'gnss/ubx', 'fuzz/framer'],
    sample: 12,
  },
  {
    name: 'NetworkManager',
    code: ['plugins/network/networkmanager', 'runtime/lib/link/d-bus.ts'],
    tests: ['networkmanager', 'networkmanager-limits', 'contract', 'eth', 'uplinks'].map(
      (file) => `plugins/network/${file}`,
    ),
    sample: 12,
  },
  {
    name: 'radio',
    code: ['plugins/radio'],
    tests: ['arbitration', 'machine', 'radio', 'sta', 'wap'].map((file) => `plugins/wifi/${file}`),
    sample: 12,
  },
  {
    name: 'image',
    code: [
      'runtime/lib/image',
      'plugins/ota/slots',
      ...['download', 'installer', 'receive'].map((f) => `plugins/ota/${f}.ts`),
    ],
    tests: ['kernel/image', 'plugins/ota/trial', 'plugins/ota/ota'],
    sample: 12,
  },
  {
    name: 'caster',
    code: [
      ...['caster', 'contents', 'foreign', 'logins', 'mount', 'replies', 'rovers', 'table'].map(
        (file) => `plugins/ntrip-caster/${file}.ts`,
      ),
      ...['chunked', 'head', 'distributor', 'selection', 'source-table'].map((file) => `runtime/lib/ntrip/${file}.ts`),
    ],
    tests: ['plugins/ntrip/parts', 'plugins/ntrip/caster', 'plugins/ntrip/client', 'plugins/ntrip/tcp'],
    sample: 14,
  },
  {
    name: 'push',
    code: ['probe', 'proof', 'push', 'reply', 'retry', 'target'].map((file) => `plugins/ntrip-server/${file}.ts`),
    tests: ['plugins/ntrip/parts', 'plugins/ntrip/server', 'plugins/ntrip/caster-test'],
    sample: 12,
  },
  {
    name: 'mqtt-link',
    code: ['plugins/mqtt-link/link', 'plugins/mqtt-link/session'],
    tests: [...['session', 'link', 'farewell'].map((part) => `plugins/mqtt/mqtt-${part}`), 'plugins/network/uplinks'],
    sample: 12,
  },
  {
    name: 'update policy',
    code: ['policy', 'trial', 'health', 'pace', 'signs', 'memory', 'updates'].map((file) => `plugins/ota/${file}.ts`),
    tests: ['plugins/ota/ota', 'plugins/ota/trial'],
    sample: 12,
    wanted: decisive,
  },
  {
    name: 'recovery and record',
    code: [
      ...['decide', 'memory', 'ladder', 'table'].map((file) => `plugins/recovery/${file}.ts`),
      'plugins/network/uplinks',
      ...['ring', 'times', 'minutes', 'history'].map((file) => `plugins/record/${file}.ts`),
      ...['ring', 'recorder'].map((file) => `plugins/dashboard/history/${file}.ts`),
    ],
    tests: [
      'plugins/network/recovery-parts',
      'plugins/network/recovery',
      'plugins/network/uplinks',
      'plugins/record',
      'plugins/dashboard/models',
    ],
    sample: 14,
  },
  {
    name: 'procedure',
    code: [survey('procedure'), survey('reference-station.ts')],
    tests: ['survey-in', 'survey-in-integrity', 'survey-in-simulator', 'confirm-position', 'antenna-moves']
      .map((file) => `plugins/gnss/${file}`)
      .concat('gnss/survey-run'),
    sample: 16,
    wanted: decisive,
  },
  {
    name: 'login',
    code: ['runtime/gateway/login', 'runtime/gateway/http/access.ts'],
    tests: ['kernel/http-login', 'kernel/passwords', 'kernel/http', 'kernel/parts'],
    sample: 14,
    wanted: decisive,
  },
  {
    name: 'config transaction',
    code: [
      'runtime/kernel/registries/change-plan.ts',
      'runtime/kernel/registries/config.ts',
      'runtime/kernel/registries/config-values.ts',
      'runtime/kernel/registries/change-trial.ts',
      'runtime/platform/trial.ts',
    ],
    tests: ['kernel/registry', 'kernel/parts', 'kernel/trial', 'kernel/manager', 'plugins/mqtt/mqtt-requests'],
    sample: 16,
    wanted: decisive,
  },
  {
    name: 'update of one plugin',
    code: ['runtime/loader/plugin-updates.ts'],
    tests: ['plugins/ota/plugin-updates', 'kernel/loader'],
    sample: 12,
  },
  {
    name: 'alerts',
    code: ['plugins/alerts', 'plugins/fleet-registry/alerts.ts'],
    tests: ['alerts', 'rules', 'fleet-alerts'].map((file) => `plugins/alerts/${file}`),
    sample: 16,
  },
  {
    name: 'fleet record',
    code: ['stations', 'store', 'live.ts'].map((part) => `plugins/fleet-registry/${part}`),
    tests: ['plugins/fleet/registry', 'plugins/alerts/fleet-alerts'],
    sample: 14,
  },
  {
    name: 'rollout and leader',
    code: ['plugins/fleet-rollout', 'plugins/fleet/database/database.ts', 'plugins/fleet/database/postgres.ts'],
    tests: ['plugins/fleet/rollout-steps', 'plugins/fleet/rollout', 'peers/fleet'],
    sample: 14,
  },
]
