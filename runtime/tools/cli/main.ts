import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, RtkError } from '../../errors.js'
import { bundledVariant, packageRoot } from '../../platform/release.js'

interface Command {
  help: string
  /** @param handOverSignals as `main` has it */
  run(args: string[], handOverSignals: () => void): Promise<number>
}

/** Loaded at use: a question to the running service must not wait for everything that runs one. */
const commands: Record<string, () => Promise<Command>> = {
  run: async () => {
    // Set before it is loaded: its logs name source files. A device has no maps, and Node would look for them in every
    // file.
    if (bundledVariant() === undefined) process.setSourceMapsEnabled(true)
    const { runCommand, runHelp } = await import('./run/run.js')
    return { help: runHelp, run: runCommand }
  },
  plugins: async () => {
    const { pluginsCommand, pluginsHelp } = await import('./plugins.js')
    return { help: pluginsHelp, run: pluginsCommand }
  },
  console: async () => {
    const { consoleCommand, consoleHelp } = await import('./console.js')
    return { help: consoleHelp, run: consoleCommand }
  },
  report: async () => {
    const { reportCommand, reportHelp } = await import('./report.js')
    return { help: reportHelp, run: reportCommand }
  },
  rinex: async () => {
    const { rinexCommand, rinexHelp } = await import('./rinex.js')
    return { help: rinexHelp, run: rinexCommand }
  },
  password: async () => {
    const { passwordCommand, passwordHelp } = await import('./password.js')
    return { help: passwordHelp, run: passwordCommand }
  },
  build: async () => {
    const { buildCommand, buildHelp } = await import('./build/build.js')
    return { help: buildHelp, run: buildCommand }
  },
  'build-plugin': async () => {
    const { buildPluginCommand, buildPluginHelp } = await import('./build/build-plugin.js')
    return { help: buildPluginHelp, run: buildPluginCommand }
  },
  keys: async () => {
    const { keysCommand, keysHelp } = await import('./build/keys.js')
    return { help: keysHelp, run: keysCommand }
  },
  'allow-port': async () => {
    const { allowPortCommand, allowPortHelp } = await import('./allow-port.js')
    return { help: allowPortHelp, run: allowPortCommand }
  },
  'new-plugin': async () => {
    const { newPluginCommand, newPluginHelp } = await import('./build/new-plugin.js')
    return { help: newPluginHelp, run: newPluginCommand }
  },
}

const help = `rtk-base: a GNSS RTK base station service

  rtk-base run [VARIANT.json]   run a station (default: the simulator)
  rtk-base plugins              list, load, unload, reload plugins of the running station
  rtk-base console              line console of the running station
  rtk-base report               make an archive for support, without secrets
  rtk-base rinex FILE...        convert recorded raw data to RINEX
  rtk-base password --reset     remove the passwords of the page, if they are lost
  rtk-base build VARIANT.json   build the deployable folder for a device
  rtk-base build-plugin DIR     make the prebuilt form of a plugin
  rtk-base new-plugin NAME      make a starter plugin (--receiver: for a GNSS receiver)
  rtk-base keys NAME            make a key pair for signing updates
  rtk-base allow-port DEVICE    let the installed service open a serial port

rtk-base --version prints the version. Every command has --help.
Exit codes: 0 done or stopped, 1 failed, 2 wrong command line, option or variant,
75 data folder or HTTP address in use by another program.
`

/** A later start may find the resource free: no fault of this version, nor of its settings. */
const busyCodes = ['RTK_ERR_DATA_LOCKED', 'RTK_ERR_LISTEN']
const usageCodes = ['RTK_ERR_USAGE', 'RTK_ERR_VARIANT', 'RTK_ERR_PLUGIN_OPTIONS']

/**
 * The command line. Sets the exit code; the process ends when nothing keeps it.
 * @param handOverSignals ends what listened for signals until now: called by the service when it listens itself
 */
export async function main(args: string[], handOverSignals: () => void = () => {}): Promise<void> {
  process.exitCode = await exitCodeOf(args, handOverSignals)
}

async function exitCodeOf(args: string[], handOverSignals: () => void): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help)
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v') {
    const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }
    process.stdout.write(`${version}\n`)
    return 0
  }
  const command = Object.hasOwn(commands, name) ? await commands[name]() : undefined
  if (!command) {
    const { didYouMean } = await import('../../platform/nearest.js')
    process.stderr.write(
      `rtk-base: unknown command "${name}"${didYouMean(name, Object.keys(commands))}; see rtk-base --help\n`,
    )
    return 2
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(command.help)
    return 0
  }
  try {
    return await command.run(rest, handOverSignals)
  } catch (error) {
    const known = error instanceof RtkError ? error : undefined
    // parseArgs throws ERR_PARSE_ARGS_*: a slip of the pen as well.
    const usage = known
      ? usageCodes.includes(known.code)
      : String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS')
    process.stderr.write(`rtk-base ${name}: ${messageOf(error).replaceAll('\n', '\n  ')}\n`)
    if (known) process.stderr.write(`  ${known.code}: ${known.help}\n`)
    else if (usage) process.stderr.write(`  See rtk-base ${name} --help\n`)
    else process.stderr.write(`${(error as Error).stack ?? ''}\n`)
    if (known && busyCodes.includes(known.code)) return 75
    return usage ? 2 : 1
  }
}
