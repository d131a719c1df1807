/** What the station writes to its hardware: the bytes to the receiver, the requests to the router. */
import type { NetworkPort } from '../../../runtime/platform/ports/network.js'
import { systemNetwork } from '../../../runtime/platform/ports/system-network.js'
import type { AnyPlugin } from '../../../runtime/plugin.js'
import { type SimulatedReceiver, simulatedReceiver } from '../../../schemas/services.js'
import { bodyLines, digest, type Line } from './text.js'

/** The simulated receiver, with a line that tells what is written to it. */
export function listenedReceiver(plugin: AnyPlugin, heard: (line: Line) => void): AnyPlugin {
  return {
    ...plugin,
    setup(ctx, options) {
      const provide = (token: unknown, value: unknown) =>
        ctx.services.provide(
          token as typeof simulatedReceiver,
          (token === simulatedReceiver ? listened(value as SimulatedReceiver, heard) : value) as SimulatedReceiver,
        )
      const services = new Proxy(ctx.services, {
        get: (target, name) => (name === 'provide' ? provide : Reflect.get(target, name, target)),
      })
      return plugin.setup(
        new Proxy(ctx, { get: (target, name) => (name === 'services' ? services : Reflect.get(target, name, target)) }),
        options,
      )
    },
  }
}

function listened(receiver: SimulatedReceiver, heard: (line: Line) => void): SimulatedReceiver {
  const port = new Proxy(receiver.port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (name === 'write') heard(['written', bytesOf(args[0] as Uint8Array)])
        else if (name !== 'present') heard([String(name), typeof args[0] === 'number' ? String(args[0]) : ''])
        return Reflect.apply(value, target, args)
      }
    },
  })
  return new Proxy(receiver, { get: (target, name) => (name === 'port' ? port : Reflect.get(target, name, target)) })
}

/** Commands in letters as they are, UBX as hexadecimal. */
const bytesOf = (bytes: Uint8Array) => {
  const text = Buffer.from(bytes).toString('latin1')
  if (/^[\x20-\x7e\r\n]*$/.test(text)) return JSON.stringify(text)
  const hex = Buffer.from(bytes).toString('hex')
  return hex.length <= 400 ? hex : `${hex.slice(0, 400)}… (${bytes.length}, ${digest(bytes)})`
}

/** The system's network; tells each HTTP request to a port of the loopback that `isHeard`. */
export function listenedNetwork(isHeard: (port: number) => boolean, heard: (line: Line) => void): NetworkPort {
  return {
    ...systemNetwork,
    dial(options) {
      const socket = systemNetwork.dial(options)
      if (!('port' in options) || !isHeard(Number(options.port))) return socket
      const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
      socket.write = ((chunk: string | Uint8Array, ...more: unknown[]) => {
        for (const line of requestLines(Buffer.from(chunk as Uint8Array).toString('utf8'))) heard(line)
        return write(chunk, ...more)
      }) as typeof socket.write
      return socket
    },
  }
}

/** A session's name is drawn. */
const requestLines = (text: string): Line[] => {
  const [head = '', ...rest] = text.replaceAll(/[0-9a-f]{32}/g, 'SESSION').split('\r\n\r\n')
  const [, method, path] = /^([A-Z]+) (\S+) HTTP/.exec(head) ?? []
  const body = method ? rest.join('\r\n\r\n') : text.replaceAll(/[0-9a-f]{32}/g, 'SESSION')
  return [
    ...(method ? [[method, path ?? ''] as const] : []),
    ...bodyLines(/^\s*[[{]/.test(body) ? 'application/json' : 'text/plain', Buffer.from(body)),
  ]
}
