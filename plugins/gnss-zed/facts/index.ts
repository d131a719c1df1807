export { type FactEvents, ReceiverFacts } from './receiver-facts.js'
