/** Runs a shell line on the simulated router: its programs, its files, nothing of this machine. */
import type { Device } from '../device/device.js'
import { type Command, lex, parse, type Result, result, type Step } from './parser.js'
import { findProgram, programs } from './programs.js'

/** Deeper than any client nests `sh -c`. */
const deepest = 8

export async function runProgram(device: Device, words: readonly string[], stdin = '', depth = 0): Promise<Result> {
  const [command = '', ...args] = words
  const name = findProgram(command)
  const program = name === undefined ? undefined : programs[name]
  if (name === undefined) return result(127, '', `sh: ${command}: not found\n`)
  if (program !== undefined) {
    const given = name === 'service' && command !== name ? [command.replace(/^.*\//, ''), ...args] : args
    return program(given, { device, stdin, run: (inner) => runProgram(device, inner, stdin, depth + 1) })
  }
  const [flag, line = '', ...parameters] = args
  if (flag !== '-c' || depth > deepest) return result(2, '', `sh: can't open '${flag ?? ''}'\n`)
  try {
    const { code, stdout, stderr } = await runList(device, parse(lex(line, parameters)), stdin, depth)
    return result(code, stdout, stderr)
  } catch (error) {
    return result(2, '', `sh: ${(error as Error).message}\n`)
  }
}

async function runList(device: Device, steps: readonly Step[], stdin: string, depth: number): Promise<Result> {
  let last = result(0)
  let stdout = ''
  let stderr = ''
  for (const step of steps) {
    if ((step.when === 'success' && last.code !== 0) || (step.when === 'failure' && last.code === 0)) continue
    const running = runPipeline(device, step.pipeline, stdin, depth)
    if (step.background) {
      last = result(0)
      continue
    }
    last = await running
    stdout += last.stdout
    stderr += last.stderr
    if (last.exits) return { ...last, stdout, stderr }
  }
  return result(last.code, stdout, stderr)
}

async function runPipeline(
  device: Device,
  commands: readonly Command[],
  stdin: string,
  depth: number,
): Promise<Result> {
  let last = result(0, stdin)
  let stderr = ''
  for (const command of commands) {
    last = await runCommand(device, command, last.stdout, depth)
    stderr += last.stderr
  }
  // Each part of a pipe is a shell of its own.
  return { ...result(last.code, last.stdout, stderr), ...(last.exits && commands.length === 1 ? { exits: true } : {}) }
}

async function runCommand(device: Device, command: Command, stdin: string, depth: number): Promise<Result> {
  let input = stdin
  for (const { stream, file } of command.redirections) {
    if (stream !== 'stdin') continue
    const data = device.files.read(file)
    if (data === undefined) return result(1, '', `sh: can't open ${file}: no such file\n`)
    input = data.toString()
  }
  const outcome = command.group
    ? await runList(device, command.group, input, depth)
    : await runProgram(device, command.words, input, depth)
  let { stdout, stderr } = outcome
  if (command.merged) [stdout, stderr] = [stdout + stderr, '']
  for (const { stream, append, file } of command.redirections) {
    if (stream === 'stdin') continue
    const text = stream === 'stderr' ? stderr : stream === 'stdout' ? stdout : stdout + stderr
    const problem = device.files.write(file, Buffer.from(text), append)
    if (stream !== 'stdout') stderr = ''
    if (stream !== 'stderr') stdout = ''
    if (problem !== undefined) return result(1, stdout, `sh: can't create ${file}: ${problem}\n`)
  }
  return { ...result(outcome.code, stdout, stderr), ...(outcome.exits && !command.subshell ? { exits: true } : {}) }
}
