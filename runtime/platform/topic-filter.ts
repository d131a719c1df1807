/** Whether a topic falls under a filter with the wildcards `+` and `#` (MQTT 5, section 4.7). */
export function topicMatches(filter: string, topic: string): boolean {
  const wanted = filter.split('/')
  const levels = topic.split('/')
  for (const [index, level] of wanted.entries()) {
    if (level === '#') return true
    if (index >= levels.length || (level !== '+' && level !== levels[index])) return false
  }
  return wanted.length === levels.length
}

/** Whether a client may subscribe to it: the wildcards are whole levels, `#` is the last one (MQTT 5, section 4.7.1). */
export function isFilter(filter: string): boolean {
  const levels = filter.split('/')
  const isLevel = (level: string, index: number) =>
    level === '+' || (level === '#' && index === levels.length - 1) || !/[+#\0]/.test(level)
  return filter !== '' && levels.every(isLevel)
}
