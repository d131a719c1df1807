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

const zed = (name: string) => `plugins/receivers/gnss-zed/${name}`
const survey = (name: string) => `plugins/reference/survey-in/${name}`
const surveyTests = [
  'gnss/integrity',
  'gnss/positions',
  'gnss/survey',
  'gnss/survey-movement',
  'gnss/survey-run',
  'plugins/reference/survey-in',
  'plugins/reference/confirm-position',
]

export const areas: readonly Area[] = [
  {
    name: 'gate',
    code: ['gate', 'stream', 'subscribers', 'history', 'epochs', 'station-messages'].map(
      (f) => `plugins/rtcm/rtcm/${f}.ts`,
    ),
    tests: ['plugins/rtcm/rtcm', 'plugins/reference/survey-in-integrity'],
    sample: 12,
    wanted: decisive,
  },
  {
    name: 'verdict',
    code: ['plugins/device/verdict', 'plugins/device/leds/patterns.ts', 'plugins/device/system/self-test/checks.ts'],
    tests: [
      'plugins/device/verdict',
      'plugins/device/leds',
      'plugins/device/system',
      'plugins/receivers/receiver-safety',
    ],
    sample: 14,
  },
  {
    name: 'phase',
    code: ['plugins/reference/integrity/phase'],
    tests: ['gnss/integrity', 'gnss/integrity-phases', 'gnss/phase-watch'],
    sample: 14,
  },
  {
    name: 'integrity',
    code: [
      ...[
        'code',
        'continuity/continuity.ts',
        'continuity/moment.ts',
        'continuity/verification.ts',
        'monitor.ts',
        'suspicion.ts',
        'comparison.ts',
        'position-check.ts',
        'antenna-phases.ts',
        'watch-reports.ts',
      ].map((part) => `plugins/reference/integrity/${part}`),
      'runtime/lib/gnss/position-window.ts',
    ],
    tests: [
      ...surveyTests,
      'gnss/integrity-phases',
      'gnss/outages',
      'gnss/ranges',
      'plugins/reference/survey-in-integrity',
      'plugins/reference/survey-in-simulator',
    ],
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
      'plugins/receivers/receiver-output',
      ...['-facts', '', '-configure', '-link', '-simulator'].map((part) => `plugins/receivers/gnss-zed${part}`),
    ],
    sample: 20,
  },
  {
    name: 'receiver drivers',
    code: [
      ...['gnss-auto', 'gnss-quectel', 'gnss-septentrio', 'gnss-unicore'].map((name) => `plugins/receivers/${name}`),
      ...['runtime/lib/link/driver', 'runtime/lib/gnss/framings'],
    ],
    tests: ['-auto', '-quectel', '-septentrio', '-unicore']
      .map((family) => `plugins/receivers/gnss${family}`)
      .concat('plugins/receivers/receiver-families'),
    sample: 14,
  },
  {
    name: 'orbits',
    code: ['runtime/lib/gnss/orbits', 'plugins/reference/integrity/orbit-sky.ts'],
    tests: ['gnss/orbits', 'gnss/phase-watch'],
    sample: 12,
  },
  {
    name: 'router login',
    code: ['limits', 'note', 'ladder'].map((file) => `plugins/network/teltonika-router/credentials/${file}.ts`),
    tests: ['plugins/network/router/router-login', 'plugins/network/router/router-link'],
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
      'kernel/third-party',
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
      ...['body', 'captive-portal', 'http-connection', 'app', 'proxies', 'replies', 'server'].map(
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
    tests: [
      ...['rtcm', 'rtcm-times', 'legacy', 'framer', 'ubx'].map((file) => `gnss/${file}`),
      'fuzz/framer',
      'end-to-end/verifier',
    ],
    sample: 12,
  },
  {
    name: 'NetworkManager',
    code: ['plugins/network/network/networkmanager', 'runtime/lib/link/d-bus.ts'],
    tests: ['networkmanager', 'networkmanager-limits', 'contract', 'eth', 'uplinks'].map(
      (file) => `plugins/network/${file}`,
    ),
    sample: 12,
  },
  {
    name: 'radio',
    code: ['plugins/network/radio', 'runtime/lib/link/reconciler.ts'],
    tests: [
      ...['arbitration', 'machine', 'radio', 'sta', 'wap'].map((file) => `plugins/network/wifi/${file}`),
      'plugins/reconciler',
    ],
    sample: 12,
  },
  {
    name: 'image',
    code: [
      'runtime/lib/image',
      'plugins/device/ota/slots',
      ...['download', 'receive'].map((f) => `plugins/device/ota/${f}.ts`),
    ],
    tests: ['kernel/image', 'plugins/device/ota/trial', 'plugins/device/ota/ota'],
    sample: 12,
  },
  {
    name: 'caster',
    code: [
      ...['caster', 'contents', 'foreign', 'logins/login-check', 'mount', 'mounts', 'replies', 'rovers', 'table'].map(
        (file) => `plugins/rtcm/ntrip-caster/${file}.ts`,
      ),
      ...['chunked', 'head', 'distributor', 'selection', 'source-table'].map((file) => `runtime/lib/ntrip/${file}.ts`),
    ],
    tests: [
      'plugins/rtcm/ntrip/parts',
      'plugins/rtcm/ntrip/caster',
      'plugins/rtcm/ntrip/client',
      'plugins/rtcm/ntrip/tcp',
      'plugins/rtcm/ntrip/users',
      'plugins/fleet/caster',
    ],
    sample: 14,
  },
  {
    name: 'push',
    code: [
      ...['probe', 'proof', 'push', 'reply', 'retry', 'target'].map((file) => `plugins/rtcm/ntrip-server/${file}.ts`),
      ...['connection-retry', 'kept-connection'].map((file) => `runtime/lib/link/outbound/${file}.ts`),
    ],
    tests: [
      ...['parts', 'server', 'caster-test'].map((file) => `plugins/rtcm/ntrip/${file}`),
      'plugins/kept-connection',
    ],
    sample: 12,
  },
  {
    name: 'mqtt-link',
    code: ['plugins/mqtt/mqtt-link/link', 'plugins/mqtt/mqtt-link/session'],
    tests: [...['session', 'link', 'farewell'].map((part) => `plugins/mqtt/mqtt-${part}`), 'plugins/network/uplinks'],
    sample: 12,
  },
  {
    name: 'update policy',
    code: [
      ...['fetch-image', 'health', 'image-trial', 'install-image', 'memory', 'pace', 'policy', 'progress', 'signs'],
      ...['running-version', 'updates'],
    ].map((file) => `plugins/device/ota/${file}.ts`),
    tests: ['plugins/device/ota/ota', 'plugins/device/ota/trial'],
    sample: 12,
    wanted: decisive,
  },
  {
    name: 'recovery and record',
    code: [
      ...['decide', 'memory', 'ladder', 'table'].map((file) => `plugins/device/recovery/${file}.ts`),
      'plugins/network/network/uplinks',
      ...['ring', 'moment', 'minutes', 'history'].map((file) => `plugins/device/record/${file}.ts`),
      ...['ring', 'recorder'].map((file) => `plugins/page/dashboard/history/${file}.ts`),
    ],
    tests: [
      'plugins/device/recovery-parts',
      'plugins/device/recovery',
      'plugins/network/uplinks',
      'plugins/device/record',
      'plugins/page/dashboard/models',
    ],
    sample: 14,
  },
  {
    name: 'procedure',
    code: [survey('procedure'), survey('reference-station.ts')],
    tests: ['survey-in', 'survey-in-integrity', 'survey-in-simulator', 'confirm-position', 'antenna-moves']
      .map((file) => `plugins/reference/${file}`)
      .concat('gnss/survey-run'),
    sample: 16,
    wanted: decisive,
  },
  {
    name: 'login',
    code: ['runtime/gateway/login', 'runtime/gateway/http/access.ts', 'runtime/platform/password-check.ts'],
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
    tests: ['plugins/device/ota/plugin-updates', 'kernel/loader'],
    sample: 12,
  },
  {
    name: 'alerts',
    code: ['plugins/device/alerts', 'plugins/fleet/fleet-registry/alerts.ts'],
    tests: [
      ...['alerts', 'rules', 'fleet-alerts'].map((file) => `plugins/device/alerts/${file}`),
      'plugins/fleet/queries',
    ],
    sample: 16,
  },
  {
    name: 'fleet record',
    code: ['stations', 'store', 'live.ts'].map((part) => `plugins/fleet/fleet-registry/${part}`),
    tests: [
      ...['registry', 'registry-store', 'queries', 'live'].map((file) => `plugins/fleet/${file}`),
      'plugins/device/alerts/fleet-alerts',
    ],
    sample: 14,
  },
  {
    name: 'rollout and leader',
    code: [
      'plugins/fleet/fleet-rollout',
      'plugins/fleet/fleet/database/database.ts',
      'plugins/fleet/fleet/database/postgres.ts',
      'plugins/fleet/fleet/jobs.ts',
    ],
    tests: [
      ...['jobs', 'queries', 'rollout-steps', 'rollout'].map((file) => `plugins/fleet/${file}`),
      'peers/fleet',
      'peers/fleet-database',
    ],
    sample: 14,
  },
]
