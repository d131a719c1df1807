export { NetworkManager } from './network-manager.js'
