/**
 * One event stream per page, closed while the page is hidden. An answer other than 200 closes an EventSource permanently
 * (HTML Standard §9.2.3), so a new one is made here, with back-off.
 */
import { isStarting, loginWanted, sessions } from './http.js'

const longestWait_ms = 30_000
/** A service that is starting is asked again after this time. */
const starting_ms = 1_000

export class EventStream {
  readonly #path: string
  readonly #begin: (source: EventSource) => void
  #source: EventSource | undefined
  #again: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #isStopped = false

  /** @param begin adds the listeners to each new source */
  constructor(path: string, begin: (source: EventSource) => void) {
    this.#path = path
    this.#begin = begin
  }

  /** Opened now, and whenever the page is shown again. */
  follow(): void {
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#close()
      else if (!this.#isStopped) this.#open()
    })
    this.#open()
  }

  /** Opened again at once, as after a login. */
  listen(): void {
    this.#isStopped = false
    this.#failures = 0
    this.#open()
  }

  /** Closed until `listen`: its end is wanted, and no trouble of the contact. */
  stop(): void {
    this.#isStopped = true
    this.#close()
  }

  /** The stream works: the next failure is the first one. */
  heard(): void {
    this.#failures = 0
    loginWanted.value = ''
    isStarting.value = false
  }

  #close(): void {
    clearTimeout(this.#again)
    this.#source?.close()
  }

  #open(): void {
    this.#close()
    const source = new EventSource(this.#path)
    this.#source = source
    this.#begin(source)
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) void this.#retry()
    }
  }

  async #retry(): Promise<void> {
    this.#failures += 1
    const found = await sessions.session().catch(() => undefined)
    if (this.#isStopped) return
    isStarting.value = found?.starting === true
    if (isStarting.value) {
      this.#failures = 0
      this.#again = setTimeout(() => this.#open(), starting_ms)
      return
    }
    if (found?.role === 'none') {
      loginWanted.value = 'needed'
      return
    }
    const wait_ms = Math.min(longestWait_ms, 1_000 * 2 ** Math.min(this.#failures, 5)) * (0.8 + 0.4 * Math.random())
    this.#again = setTimeout(() => this.#open(), wait_ms)
  }
}
