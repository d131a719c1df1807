export { Configurator, type ConfiguratorOptions } from './configurator.js'
export { Upkeep } from './upkeep.js'
