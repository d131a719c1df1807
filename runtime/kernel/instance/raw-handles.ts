/**
 * Handles that plugins open past `ctx`: timers, servers, sockets, watchers, child processes, listeners of the process.
 * The runtime cannot close them when a plugin stops. It records their owner and place of origin, and names those left
 * open.
 */
import { ChildProcess } from 'node:child_process'
import dgram from 'node:dgram'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import timers from 'node:timers'
import { currentOwner, type Owner } from '../../platform/guard/owner.js'
import { framesOfStack, ownPlace } from '../../platform/guard/uncaught.js'

/** Something that a plugin opened and did not close. */
export interface OpenHandle {
  readonly plugin: string
  /** E.g. `interval of 1000 ms`, `TCP server 127.0.0.1:4711`. */
  readonly what: string
  /** `file:line:column`; '' if the stack has no such place. */
  readonly place: string
}

interface Handle {
  /** Undefined once it is closed or collected. */
  what(): string | undefined
  /**
   * The stack of this error shows where the handle was made. Formatted only on demand: until then it retains the objects of its
   * stack, e.g. a connection.
   */
  readonly made: Error
  readonly made_ms: number
}

/**
 * Interval at which closed handles are released, with everything their stacks retain: 100 closed connections are 10 MB
 * of buffers. A `WeakMap` from handle to stack would not do: a timer set in another timer's callback has that timer on
 * its stack, and so on.
 */
const prune_ms = 5_000

/** Handles of one owner, pruned whenever their number has doubled, and now and then. */
class Handles {
  static readonly least = 32
  #all: Handle[] = []
  #prunedTo = 0

  add(handle: Handle): void {
    this.#all.push(handle)
    if (this.#all.length > Handles.least + 2 * this.#prunedTo) this.prune()
  }

  prune(): void {
    this.#all = this.open()
    this.#prunedTo = this.#all.length
  }

  open(): Handle[] {
    return this.#all.filter((handle) => handle.what() !== undefined)
  }
}

const owned = new WeakMap<Owner, Handles>()
let owners: WeakRef<Owner>[] = []

/** @param isOpen asked with the handle while it is alive */
function note<T extends object>(handle: T, isOpen: (handle: T) => boolean, describe: (handle: T) => string): void {
  const owner = currentOwner()
  if (!owner) return
  let handles = owned.get(owner)
  if (!handles) {
    handles = new Handles()
    owned.set(owner, handles)
    owners = owners.filter((known) => known.deref())
    owners.push(new WeakRef(owner))
  }
  const weak = new WeakRef(handle)
  handles.add({
    made: new Error('made here'),
    made_ms: performance.now(),
    what() {
      const alive = weak.deref()
      return alive && isOpen(alive) ? describe(alive) : undefined
    },
  })
}

/** An owner's open handles that were made since then. */
export function openHandles(owner: Owner, since_ms = 0): OpenHandle[] {
  const all = owned.get(owner)?.open() ?? []
  return all.flatMap(({ what, made, made_ms }) => {
    const text = made_ms < since_ms || isOfNode(made) ? undefined : what()
    return text ? [{ plugin: owner.name, what: text, place: ownPlace(made) }] : []
  })
}

/** Handles that instances of a plugin made since then and left open when they stopped. */
export function leftOpen(plugin: string, since_ms: number): OpenHandle[] {
  return owners.flatMap((known) => {
    const owner = known.deref()
    return owner?.signal.aborted && owner.name === plugin ? openHandles(owner, since_ms) : []
  })
}

/** A timer that Node or its HTTP client made for itself, e.g. for the connections of `fetch`: it belongs to the pool. */
function isOfNode({ stack = '' }: Error): boolean {
  const [, ...frames] = stack.split('\n')
  const [here] = framesOfStack(new Error('here'))
  const caller = frames.find((frame) => !here || !frame.includes(here.file))
  return /\b(setTimeout|setInterval)\b/.test(stack) && /[( ]node:|[/\\]node_modules[/\\]undici[/\\]/.test(caller ?? '')
}

/** One line of text. */
export function describeHandle({ what, place }: OpenHandle): string {
  return place ? `${what} (made at ${place})` : what
}

let installed = 0
let undoAll: () => void = () => {}

/** Notes handles from now on. Returns the undo; recorded handles stay recorded. */
export function noteRawHandles(): () => void {
  installed += 1
  if (installed === 1) undoAll = install()
  let undone = false
  return () => {
    if (undone) return
    undone = true
    installed -= 1
    if (installed === 0) undoAll()
  }
}

// biome-ignore lint/suspicious/noExplicitAny: functions of any kind are wrapped alike
type AnyFunction = (...args: any[]) => any

/** Calls `after` with the `this` value, the result and the arguments of each call. Returns the undo. */
function wrap(target: object, name: string, after: (self: unknown, result: unknown, args: unknown[]) => void) {
  const functions = target as Record<string, AnyFunction>
  const real = functions[name]
  const wrapped = function (this: unknown, ...args: unknown[]): unknown {
    const result: unknown = real.apply(this, args)
    if (currentOwner()) after(this, result, args)
    return result
  }
  // `setTimeout` has a custom promisify form, `fs.watch` has none: copied in both cases.
  functions[name] = Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(real)) as AnyFunction
  return () => {
    if (functions[name] === wrapped) functions[name] = real
  }
}

/** A timer that neither fired nor was cleared; Node keeps no public sign of it. */
const isArmed = (timer: object) => (timer as { _destroyed?: boolean })._destroyed === false
/** A connection that waits in a pool is not referenced: it belongs to the pool. */
const isReferenced = (socket: net.Socket) =>
  (socket as { _handle?: { hasRef?(): boolean } | null })._handle?.hasRef?.() !== false

function address(of: net.AddressInfo | string | null): string {
  return of === null ? '' : typeof of === 'string' ? ` ${of}` : ` ${of.address}:${of.port}`
}

/** Tracks handles that have no property to show that they are closed. */
const closed = new WeakSet<object>()
function untilClosed(handle: NodeJS.EventEmitter): void {
  handle.once('close', () => closed.add(handle))
}

type Undo = () => void

function install(): Undo {
  const pruning = setInterval(() => {
    for (const known of owners) {
      const owner = known.deref()
      if (owner) owned.get(owner)?.prune()
    }
  }, prune_ms).unref()
  const undo = [
    () => clearInterval(pruning),
    ...noteTimers(),
    ...noteSockets(),
    noteChildren(),
    noteWatches(),
    ...noteListeners(),
  ]
  // So that `import { watch } from 'node:fs'` gets the wrapped one too.
  syncBuiltinESMExports()
  return () => {
    for (const step of undo.reverse()) step()
    syncBuiltinESMExports()
  }
}

function noteTimers(): Undo[] {
  const kinds = [
    ['setTimeout', 'timer'],
    ['setInterval', 'interval'],
  ]
  return kinds.flatMap(([name, what]) => {
    const noteTimer = (_self: unknown, timer: unknown, [, ms]: unknown[]) =>
      note(timer as object, isArmed, () => `${what} of ${Number(ms ?? 1)} ms`)
    // The global one, and that of `import { setInterval } from 'node:timers'`.
    return [wrap(globalThis, name, noteTimer), wrap(timers, name, noteTimer)]
  })
}

function noteSockets(): Undo[] {
  return [
    wrap(net.Server.prototype, 'listen', (server) =>
      note(
        server as net.Server,
        ({ listening }) => listening,
        (open) => `TCP server${address(open.address())}`,
      ),
    ),
    wrap(net.Socket.prototype, 'connect', (socket) =>
      note(
        socket as net.Socket,
        (open) => !open.destroyed && isReferenced(open),
        ({ remoteAddress, remotePort }) =>
          remoteAddress ? `TCP connection to ${remoteAddress}:${remotePort}` : 'TCP connection',
      ),
    ),
    wrap(dgram.Socket.prototype, 'bind', (socket) => {
      untilClosed(socket as dgram.Socket)
      note(
        socket as dgram.Socket,
        (open) => !closed.has(open),
        () => 'UDP socket',
      )
    }),
  ]
}

function noteChildren(): Undo {
  return wrap(ChildProcess.prototype, 'spawn', (child) =>
    note(
      child as ChildProcess,
      ({ pid, exitCode, signalCode }) => pid !== undefined && exitCode === null && signalCode === null,
      ({ pid, spawnfile }) => `child process ${pid} (${spawnfile})`,
    ),
  )
}

function noteWatches(): Undo {
  return wrap(fs, 'watch', (_self, watcher, [path]) => {
    untilClosed(watcher as fs.FSWatcher)
    note(
      watcher as fs.FSWatcher,
      (open) => !closed.has(open),
      () => `watch of ${String(path)}`,
    )
  })
}

function noteListeners(): Undo[] {
  return ['on', 'once', 'addListener', 'prependListener'].map((name) =>
    wrap(process, name, (_self, _result, [event, listener]) => {
      if (typeof listener !== 'function') return
      note(
        listener,
        (open) => process.listeners(event as NodeJS.Signals).includes(open as NodeJS.SignalsListener),
        () => `process listener of "${String(event)}"`,
      )
    }),
  )
}
