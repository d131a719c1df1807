export { UplinkService } from './uplinks.js'
