import { RtkError } from '../../runtime/errors.js'
import type { ExecOptions, ExecResult, ProcessPort } from '../../runtime/ports/processes.js'

export type FakeProgram = (
  args: readonly string[],
  options: ExecOptions,
) => Partial<ExecResult> | Promise<Partial<ExecResult>>

/** Programs that a test answers for; any other is not found. `calls` are those made so far: file and arguments. */
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
