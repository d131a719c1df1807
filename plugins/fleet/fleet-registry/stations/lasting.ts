/** The parts of a document that people change, in the specification's order. */
export const lasting = [
  ...['esp.version', 'esp.sha256', 'esp.hardware', 'gnss.zed', 'gnss.receiver', 'gnss.config'],
  ...['gnss.ref.chosen', 'gnss.ref.manual', 'gnss.ref.survey.x', 'gnss.ref.survey.y', 'gnss.ref.survey.z'],
  ...['base.name', 'udp', 'mqtt.host', 'mqtt.port', 'mqtt.rtcm.rate', 'mqtt.rtcm.sign', 'mqtt.state.cert.serial'],
  ...['eth.enabled', 'eth.ip', 'wap.ssid', 'wap.enabled', 'wap.channel', 'sta.ssid', 'router.serial', 'router.swver'],
  ...['modem.imei', 'modem.rev', 'modem.cfg', 'modem.sim.iccid'],
]
