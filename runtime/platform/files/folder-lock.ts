import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { RtkError } from '../../errors.js'
import { reachSocket } from '../ports/socket-path.js'
import { disk, type FileSystem } from './disk.js'
import { systemCode } from './durable-file.js'

// A dot file: `rm store/*` of a running service does not let a second one in.
const lockName = /^\.in-use-(\d+)-[0-9a-f]+$/

/** File systems that hold no sockets (FAT, some network and shared folders) answer with these. */
const unsupported = ['ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'EINVAL', 'ENOSYS', 'ENAMETOOLONG']

/**
 * One service per folder: each listens on a unix socket of its own in the folder, and then checks for other listeners.
 * The system answers for a process as long as it lives, regardless of its number and its container. Everyone listens
 * before it looks, so of two at least one sees the other.
 */
export class FolderLock {
  readonly #folder: string
  readonly #fs: FileSystem
  readonly #name = `.in-use-${process.pid}-${randomBytes(4).toString('hex')}`
  #held: { server: Server; release(): void } | undefined

  constructor(folder: string, fs: FileSystem = disk) {
    this.#folder = folder
    this.#fs = fs
  }

  /**
   * Takes the lock, also again after it was deleted. Resolves to false on a file system without sockets.
   * @throws RTK_ERR_DATA_LOCKED; a system error while the state is unknown (disk full, too many open files).
   */
  async take(): Promise<boolean> {
    if (this.#held && (await this.#isThere())) return true
    await this.release()
    let failure: unknown
    try {
      await this.#listen()
    } catch (error) {
      failure = error
    }
    try {
      await this.#throwIfUsed()
    } catch (error) {
      await this.release()
      throw error
    }
    if (failure === undefined) return true
    if (unsupported.includes(systemCode(failure))) return false
    throw failure
  }

  async release(): Promise<void> {
    const held = this.#held
    this.#held = undefined
    if (!held) return
    // Node removes the socket by the path that it was made with: the folder stays reachable until then.
    await new Promise<void>((resolve) => held.server.close(() => resolve()))
    held.release()
  }

  async #isThere(): Promise<boolean> {
    return this.#fs.lstat(join(this.#folder, this.#name)).then(
      () => true,
      () => false,
    )
  }

  async #listen(): Promise<void> {
    const { path, release } = reachSocket(this.#folder, this.#name)
    const server = createServer((socket) => socket.destroy())
    try {
      server.listen(path)
      await once(server, 'listening')
      await this.#fs.chmod(join(this.#folder, this.#name), 0o600)
    } catch (error) {
      server.close(release)
      throw error
    }
    server.on('error', () => {})
    server.unref()
    this.#held = { server, release }
  }

  async #throwIfUsed(): Promise<void> {
    for (const name of await this.#fs.readdir(this.#folder)) {
      const [, pid] = lockName.exec(name) ?? []
      if (pid === undefined || name === this.#name) continue
      if (await this.#isLive(name)) {
        throw new RtkError('RTK_ERR_DATA_LOCKED', `${this.#folder} is in use by another process (${pid})`)
      }
      await this.#fs.rm(join(this.#folder, name), { force: true }).catch(() => {})
    }
  }

  async #isLive(name: string): Promise<boolean> {
    const { path, release } = reachSocket(this.#folder, name)
    const socket = connect(path)
    try {
      await once(socket, 'connect')
      return true
    } catch (error) {
      const code = systemCode(error)
      if (code === 'ECONNREFUSED' || code === 'ENOENT') return false
      // It closed at this moment: it yields too, or has disappeared at the second look.
      if (code === 'ECONNRESET') return this.#isLive(name)
      // Its queue is full, or it belongs to another user.
      if (code === 'EAGAIN' || code === 'EACCES' || code === 'EPERM') return true
      throw error
    } finally {
      socket.destroy()
      release()
    }
  }
}
