export { type ReceiverEvents, receiverEvents } from './events.js'
export { receiverService } from './receiver-service.js'
