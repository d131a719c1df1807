import { RtkError } from '../../runtime/errors.js'
import type { ExecOptions, ExecResult, ProcessPort } from '../../runtime/platform/ports/processes.js'

/** A simulated program. The returned members replace those of a successful run without output. */
export type FakeProgram = (
  args: readonly string[],
  options: ExecOptions,
) => Partial<ExecResult> | Promise<Partial<ExecResult>>

/** Programs simulated by a test. Any other program is not found. `calls` lists the calls so far: file and arguments. */
export function fakeProcesses(
  programs: Readonly<Record<string, FakeProgram>>,
): ProcessPort & { readonly calls: string[][] } {
  const calls: string[][] = []
  return {
    calls,
    async execFile(file, args, options = {}) {
      calls.push([file, ...args])
      const program = programs[file]
      if (!program) throw new RtkError('RTK_ERR_PROCESS_NOT_FOUND', `${file}: no such program in this test`)
      if (options.signal?.aborted) throw new RtkError('RTK_ERR_ABORTED', `${file}: given up`)
      return { code: 0, signal: null, stdout: '', stderr: '', ...(await program(args, options)) }
    },
  }
}
