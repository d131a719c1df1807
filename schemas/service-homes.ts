/** The services of the shipped plugins and the plugin that provides each: for the answer where that plugin is missing. */
export const serviceHomes: Readonly<Record<string, string>> = {
  'mqtt-link': 'mqtt-link',
  'embedded-broker': 'mqtt-broker',
  receiver: 'gnss-zed',
  'receiver-limits': 'gnss-zed',
  'simulated-receiver': 'gnss-zed',
  'procedure-status': 'survey-in',
  'correction-input': 'rtcm-in',
  'correction-status': 'rtcm-in',
  'rtcm-stream': 'rtcm',
  'rtcm-gate': 'rtcm',
  'cellular-router': 'teltonika-router',
  'cellular-modem': 'teltonika-router',
  'cellular-uplink': 'modem',
  'router-firmware': 'teltonika-router',
  'simulated-router': 'teltonika-router',
}
