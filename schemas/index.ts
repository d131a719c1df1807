/** The public contract (`rtk-base/schemas`): TypeBox schemas of the document, the changes, the variant and the wire formats. */
export * from './async-api.js'
export * from './commands.js'
export * from './document.js'
export * from './info/gnss.js'
export * from './info/mqtt.js'
export * from './mask.js'
export * from './mqtt/messages.js'
export * from './variant.js'
