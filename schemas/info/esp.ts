/** The `esp` block of the document: the service and the machine that runs it. */
import Type, { type Static } from 'typebox'

const count = (description: string) => Type.Integer({ minimum: 0, description })
const memory = (description: string) =>
  Type.Object(
    {
      free: count('bytes'),
      used: count('bytes'),
      freeblocks: count('0: not counted'),
      usedblocks: count('0: not counted'),
    },
    { description },
  )

export const EspInfo = Type.Object(
  {
    version: Type.String({ description: 'Release of the service' }),
    sha256: Type.String({ description: 'Digest of the installed image, or of the source tree; hexadecimal' }),
    idf: Type.String({ description: 'Platform, e.g. `node v22.12.0`' }),
    built: Type.String({ description: 'Build time, ISO 8601' }),
    serial: Type.String({ description: 'Serial number of the station' }),
    hardware: Type.String({ description: '`hardware` of the variant' }),
    partition: Type.String({ description: 'Running slot; empty without slots' }),
    productionflag: Type.Integer({ description: 'Number of your production line, stored by prodflag' }),
    bootcnt: count('Starts of the service'),
    state: Type.Object({ uptime: count('Seconds since the service started') }),
    mem: Type.Object({
      internal: memory("The service's heap; its blocks are the heap spaces of V8"),
      spiram: memory('Memory of the machine'),
    }),
  },
  { description: 'The service and the machine that runs it' },
)
export type EspInfo = Static<typeof EspInfo>
