/** What is known of the router, how it stays known, and what a person has to know of it. */
export { Arrival } from './arrival.js'
export { type FactOf, type Known, RouterFacts } from './facts.js'
export { RouterPoll } from './poll.js'
export { RouterTrouble } from './trouble.js'
