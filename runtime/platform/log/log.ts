import { createRequire } from 'node:module'
import pino, { type Logger } from 'pino'
import { journalLine, writesToJournal } from './journal.js'
import { LogControl, LogTap } from './log-control.js'
import { limitedLine } from './log-limit.js'
import { censor, secretWords, withoutSecrets } from './redact.js'

export type { Logger } from 'pino'
export { LogControl } from './log-control.js'

/** Lines that are written as soon as the standard output takes something again. */
const keptWhileFull_bytes = 65_536

type Line = Record<string, unknown>

/** The root logger: pretty on a terminal, JSON lines otherwise. Every plugin gets a child with its name. */
export function createLogger(
  options: { level?: string; pretty?: boolean; destination?: pino.DestinationStream } = {},
): Logger {
  const { level = 'info', pretty = process.stdout.isTTY === true } = options
  const settings: pino.LoggerOptions = {
    level,
    base: null,
    formatters: { log: withoutSecrets },
    hooks: { logMethod: limitedLine },
    // The bindings of a child logger pass no formatter.
    redact: { paths: [...secretWords, 'privateKey'], censor },
    serializers: { err: (error) => withoutSecrets(pino.stdSerializers.err(error) as unknown as Line) },
  }
  const tap = new LogTap(options.destination ?? (pretty ? prettyOutput() : standardOutput()))
  return new LogControl((onChild) => pino({ ...settings, onChild }, tap), tap).logger
}

/** For a person at a terminal. */
export function prettyOutput(): pino.DestinationStream {
  // In this thread, not as a transport: the last lines before an exit must be seen. Loaded only on a terminal; a device
  // has none, and does not carry it.
  const prettyStream = loadPretty()
  if (!prettyStream) return standardOutput()
  return prettyStream({
    colorize: true,
    // One line an event: its fields are for machines, which read the JSON form. A stack trace is for developers.
    hideObject: true,
    translateTime: 'SYS:HH:MM:ss',
    messageFormat(line, messageKey) {
      const { stack } = (line.err ?? {}) as { stack?: string }
      const text = `${line.plugin ? `${line.plugin}: ` : ''}${line[messageKey]}`
      return stack && Number(line.level) >= 50 ? `${text}\n${stack}` : text
    },
    sync: true,
  })
}

/** The log's disk may be full: that costs lines beyond what is kept for later, never the station. */
function standardOutput(): pino.DestinationStream {
  const stream = pino.destination({ fd: 1, sync: true, maxLength: keptWhileFull_bytes })
  stream.on('error', () => {})
  if (!writesToJournal()) return stream
  return { write: (line) => void stream.write(journalLine(line)) }
}

function loadPretty(): typeof import('pino-pretty') | undefined {
  try {
    return createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty')
  } catch {
    return undefined
  }
}
