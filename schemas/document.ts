/** Top-level names of the information document, in the order of the specification. */
export const documentOrder = ['esp', 'gnss', 'base', 'eth', 'wap', 'sta', 'udp', 'mqtt', 'router', 'modem'] as const
