/** What a process tells the run about the test files that it was given. */
export interface Failure {
  /** Names of the tests from the outermost to the assertion. */
  readonly name: string
  /** Expected and found, the place, the error: as tap describes them. */
  readonly details: Readonly<Record<string, unknown>>
  /** The last lines that a station logged before. */
  readonly log: readonly string[]
}

export interface FileReport {
  /** Relative to `build/test`, without `.test.js`. */
  readonly file: string
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failures: readonly Failure[]
  /** Tests that were skipped, with the reason. */
  readonly skips: readonly string[]
  readonly duration_ms: number
  /** Of the process and of the programs that it started and saw end. */
  readonly cpu_ms: number
}

export interface Comment {
  readonly comment: string
}

/** The test that `import t from 'tap'` means: that of the file which runs now. */
export const testKey = Symbol.for('rtk-base.test-file')
