/** Where the station itself publishes or listens: nobody else's answer belongs there. */
const ownTopics = /^(online|info|cmd|change|drtk)(\/|$)/

/**
 * Whether an answer may go to this topic: below `base/{SN}/`, without wildcards, and none of the station's own topics. Anything
 * else would let who may only send requests publish, as this station, where the broker does not let him.
 */
export function isOwnResponseTopic(serial: string, topic: string): boolean {
  const prefix = `base/${serial}/`
  if (!topic.startsWith(prefix) || topic.length > 256) return false
  const rest = topic.slice(prefix.length)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is for
  return rest !== '' && !ownTopics.test(rest) && !/[+#\u0000-\u001f\u007f]/.test(rest)
}
