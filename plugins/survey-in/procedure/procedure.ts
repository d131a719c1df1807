import { type Action, type Event, type Row, type State, states, table } from './table.js'

const rows = new Map<string, Row>(table.map((row) => [`${row[0]} ${row[1]}`, row]))

/** The row that an event finds in a state; undefined when nothing happens. */
export function rowOf(state: State, event: Event): Row | undefined {
  return rows.get(`${state} ${event}`) ?? rows.get(`any ${event}`)
}

/** Interprets the table. Pure: what is to be done comes back as names of actions. */
export class Procedure {
  #state: State = 'offline'

  get state(): State {
    return this.#state
  }

  /** As `gnss.state.status` shows it. */
  get status(): string {
    return states[this.#state].status
  }

  /** Goes on in a state that was left by a reload. */
  resume(state: State): void {
    this.#state = state
  }

  /** Undefined when the event means nothing in this state. */
  step(event: Event): { from: State; to: State; actions: readonly Action[] } | undefined {
    const row = rowOf(this.#state, event)
    if (!row) return undefined
    const from = this.#state
    const [, , to, actions] = row
    this.#state = to
    return { from, to, actions }
  }
}
