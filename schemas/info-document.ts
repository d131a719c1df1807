/** The status document as a whole, and the part of it that a mask selects. */
import Type, { type Static } from 'typebox'
import { BaseInfo } from './info/base.js'
import { NtripInfo, RtcmSerialInfo, RtcmTcpInfo } from './info/corrections.js'
import { EspInfo } from './info/esp.js'
import { GnssInfo } from './info/gnss.js'
import { LinksInfo } from './info/links.js'
import { ModemInfo } from './info/modem.js'
import { MqttInfo } from './info/mqtt.js'
import { EthInfo, StaInfo, UdpInfo, WapInfo } from './info/network.js'
import { RouterInfo } from './info/router.js'

export const InfoDocument = Type.Object(
  {
    esp: Type.Optional(EspInfo),
    gnss: Type.Optional(GnssInfo),
    base: Type.Optional(BaseInfo),
    eth: Type.Optional(EthInfo),
    wap: Type.Optional(WapInfo),
    sta: Type.Optional(StaInfo),
    udp: Type.Optional(UdpInfo),
    mqtt: Type.Optional(MqttInfo),
    router: Type.Optional(RouterInfo),
    modem: Type.Optional(ModemInfo),
    links: Type.Optional(LinksInfo),
    ntrip: Type.Optional(NtripInfo),
    rtcm_tcp: Type.Optional(RtcmTcpInfo),
    rtcm_serial: Type.Optional(RtcmSerialInfo),
  },
  {
    description: 'The status document. A block is present while its plugin runs. Other plugins add further blocks',
  },
)
export type InfoDocument = Static<typeof InfoDocument>

const partText = 'The part of the status document that a mask selects: any field may be missing'

/** Placeholder for `infoDocumentPart()`, which is built on demand to keep the start-up short. */
export const InfoDocumentPart = Type.Object({}, { description: partText })

/** Fields of objects come and go with the mask; an entry of a list is always complete. */
export const infoDocumentPart = (): object => ({ ...(optional(InfoDocument) as object), description: partText })

function optional(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const { required, properties, ...rest } = schema as { required?: unknown; properties?: Record<string, unknown> }
  if (properties === undefined) return schema
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, optional(field)])),
  }
}
