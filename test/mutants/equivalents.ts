/** Changes that no test can notice, as the program does the same with them. They are not drawn. */
export interface Equivalent {
  readonly source: string
  /** The line of the transpiled code after the change, or a part of it that no other change makes. */
  readonly after: string
  readonly because: string
}

export const equivalents: readonly Equivalent[] = [
  ...['randomBytes(17)', 'randomBytes(160)'].map((after) => ({
    ...{ source: 'runtime/gateway/login/passwords.ts', after },
    because: 'a longer salt is as good',
  })),
  {
    source: 'plugins/receivers/gnss-zed/facts/satellites.ts',
    after: 'gnssId * 256 - svId',
    because: 'no satellite number reaches 256: the key still tells all apart',
  },
  ...['--checker.uses', '!(++checker.uses', '!== compiledFrom', 'compiledFrom = 9', 'compiledFrom = 80'].map(
    (after) => ({
      ...{ source: 'runtime/platform/validate.ts', after },
      because: 'a schema that is never compiled, or earlier, gives the same answers in another time',
    }),
  ),
  {
    source: 'plugins/receivers/gnss-zed/facts/satellites.ts',
    after: 'gnssId * 2560 + svId',
    because: 'any factor above the highest satellite makes a key of two numbers',
  },
  {
    source: 'runtime/kernel/instance/raw-handles.ts',
    after: 'installed += 2',
    because: 'it is compared with 0 alone',
  },
  {
    source: 'plugins/reference/survey-in/survey/estimator.ts',
    after: 'axis <= 3; axis++) this.#mean[axis] = mean[axis]',
    because: 'a fourth axis is read by nobody',
  },
  {
    source: 'plugins/rtcm/rtcm/epochs.ts',
    after: 'this.sequence += 10',
    because: 'epochs are told apart by it, not counted',
  },
  {
    source: 'plugins/device/ota/health.ts',
    after: 'this.#limit_ms / 60001',
    because: 'it is rounded to minutes, and no trial has thousands of them',
  },
  {
    source: 'plugins/rtcm/ntrip-server/push.ts',
    after: 'const mostHeard = 2',
    because: 'every piece is looked at as it comes: only a word in two pieces is found in what is kept',
  },
  {
    source: 'plugins/reference/integrity/phase/reference.ts',
    after: 'number <= next; number++',
    because: 'a plan ends at its lag, always before the newest epoch',
  },
  {
    source: 'plugins/receivers/gnss-zed/ubx/layout.ts',
    after: 'return cls << 9 | id',
    because: 'any shift beyond the bits of an id makes a key of both',
  },
  {
    source: 'plugins/receivers/gnss-zed/ubx/layout.ts',
    after: 'return cls << 80 | id',
    because: 'any shift beyond the bits of an id makes a key of both: 80 is 16',
  },
  {
    source: 'runtime/kernel/plugins/entry.ts',
    after: 'retry_s: 1,',
    because: 'it is shown of a failed plugin alone, and each failure sets it',
  },
  {
    source: 'runtime/platform/store/store.ts',
    after: 'settle: stale >= 0',
    because: 'each start writes once, which settles what is marked',
  },
  {
    source: 'plugins/mqtt/mqtt-link/session/farewell.ts',
    after: 'performance.now() <= latest_ms',
    because: 'no two moments of the real clock are equal',
  },
  {
    source: 'plugins/network/teltonika-router/credentials/note.ts',
    after: 'utc_ms >= now.utc_ms',
    because: 'what is of this millisecond counts from now either way',
  },
  {
    source: 'plugins/rtcm/rtcm/epochs.ts',
    after: 'this.sequence += 2',
    because: 'epochs are told apart by it, not counted',
  },
  {
    source: 'runtime/kernel/instance/raw-handles.ts',
    after: '; owners.push',
    because: 'weak references to lives that have gone cost a few bytes and are passed over',
  },
  {
    source: 'plugins/reference/integrity/phase/order-statistic.ts',
    after: 'values[low + high >> 2]',
    because: 'a pivot outside of the part never ends: a time limit alone can notice',
  },
  {
    source: 'plugins/reference/integrity/position-check.ts',
    after: 'acc_m: other.acc_m, corr: true }',
    because: 'the position beside it is one without corrections',
  },
  ...['#seenAt_ms = 1;', '#lookedAt_ms = 1;'].map((after) => ({
    ...{ source: 'plugins/reference/integrity/watch-reports.ts', after },
    because: 'the begin of a base sets it before anything reads it',
  })),
  {
    source: 'runtime/lib/gnss/framer.ts',
    after: 'if (!(count === 0)) return',
    because: 'a loop that never ends: a time limit alone can notice',
  },
  {
    source: 'runtime/kernel/plugins/manager.ts',
    after: '!entry && !instance || by && by !== instance',
    because:
      'an error without an owner is put down to a plugin that runs alone; with one, it is compared with its owner',
  },
  {
    source: 'plugins/device/ota/pace.ts',
    after: 'Math.max(1, left_ms)',
    because: 'a millisecond of 10 s',
  },
  {
    source: 'plugins/rtcm/ntrip-server/push.ts',
    after: 'unacknowledged_ms > 1 ||',
    because: 'a millisecond of the time that the kernel states',
  },
  {
    source: 'runtime/gateway/http/server.ts',
    after: 'longestTurn_ms = 51;',
    because: 'a millisecond of 50 ms of real time',
  },
  {
    source: 'plugins/mqtt/mqtt-link/session/inspection.ts',
    after: 'from < chunk.length && !this.#intake.rests || !this.destroyed',
    because: 'a loop that never ends: a time limit alone can notice',
  },
  {
    source: 'plugins/receivers/gnss-zed/configure/configurator.ts',
    after: 'baud > 1 &&',
    because: 'no line has 1 baud',
  },
  {
    source: 'plugins/device/verdict/base-state.ts',
    after: 'this.#left_ms() <= 1',
    because: 'a millisecond of 15 s',
  },
  {
    source: 'runtime/platform/password-check.ts',
    after: 'this.#known.size >= mostKnown',
    because: 'one password less is remembered, and derived again when it comes',
  },
  {
    source: 'runtime/gateway/login/login.ts',
    after: 'this.#sessions.hashes.length >= 0',
    because: 'nothing is written over nothing',
  },
]
