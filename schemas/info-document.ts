/** The information document as a whole, and the part of it that a mask selects. */
import Type, { type Static, type TSchema } from 'typebox'
import { BaseInfo } from './info/base.js'
import { EspInfo } from './info/esp.js'
import { GnssInfo } from './info/gnss.js'
import { LinksInfo } from './info/links.js'
import { ModemInfo } from './info/modem.js'
import { MqttInfo } from './info/mqtt.js'
import { EthInfo, StaInfo, UdpInfo, WapInfo } from './info/network.js'
import { NtripInfo, RtcmSerialInfo, RtcmTcpInfo } from './info/ntrip.js'
import { RouterInfo } from './info/router.js'
import { rewritten } from './rewritten.js'

/** A plugin may add fields to the block of another one. */
export const extensible = <S extends TSchema>(schema: S): S =>
  rewritten(schema, ({ additionalProperties, ...rest }) =>
    additionalProperties === false
      ? rest
      : { ...rest, ...(additionalProperties !== undefined && { additionalProperties }) },
  )

/** The blocks by their names in the document. */
export const infoBlocks = {
  esp: extensible(EspInfo),
  gnss: extensible(GnssInfo),
  base: extensible(BaseInfo),
  eth: extensible(EthInfo),
  wap: extensible(WapInfo),
  sta: extensible(StaInfo),
  udp: extensible(UdpInfo),
  mqtt: extensible(MqttInfo),
  router: extensible(RouterInfo),
  modem: extensible(ModemInfo),
  links: extensible(LinksInfo),
  ntrip: extensible(NtripInfo),
  rtcm_tcp: extensible(RtcmTcpInfo),
  rtcm_serial: extensible(RtcmSerialInfo),
}

export const InfoDocument = Type.Object(
  Object.fromEntries(Object.entries(infoBlocks).map(([name, block]) => [name, Type.Optional(block)])) as {
    [K in keyof typeof infoBlocks]: ReturnType<typeof Type.Optional<(typeof infoBlocks)[K]>>
  },
  {
    description: 'The information document. A block is present while its plugin runs. Other plugins add further blocks',
  },
)
export type InfoDocument = Static<typeof InfoDocument>

/** Fields of objects come and go with the mask; an entry of a list is always complete. */
function optional(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const { required, properties, ...rest } = schema as { required?: unknown; properties?: Record<string, unknown> }
  if (properties === undefined) return schema
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, optional(field)])),
  }
}

export const InfoDocumentPart: TSchema = {
  ...(optional(InfoDocument) as object),
  description: 'The part of the information document that a mask selects: any field may be missing',
}
