/** Limits of the archive and of its push, set where the station is built. */
import { Type } from 'typebox'

export const Options = Type.Object(
  {
    size_mb: Type.Integer({ default: 1024, minimum: 16, maximum: 1_048_576, description: 'Maximum disk usage' }),
    days: Type.Integer({ default: 30, minimum: 1, maximum: 3_650, description: 'Older files are deleted' }),
    free_mb: Type.Optional(
      Type.Integer({
        minimum: 8,
        maximum: 1_048_576,
        description: 'Left free on the disk. Without it: 256, or a quarter of a disk of less than 1 GB',
      }),
    ),
    disk: Type.String({
      default: '',
      description: 'Mount point of another disk for the files, such as a USB stick. Empty: the data folder',
    }),
    push_ca: Type.String({
      default: '',
      maxLength: 65_536,
      description: 'An authority that the push trusts beside the public ones: PEM text, or the path of a PEM file',
    }),
    push_kbit_s: Type.Integer({
      default: 512,
      minimum: 16,
      maximum: 1_000_000,
      description: 'Limit of the push, kbit/s',
    }),
    push_late_h: Type.Integer({
      default: 24,
      minimum: 1,
      maximum: 8_760,
      description: 'Hours after which raw data that is not pushed is reported as an error',
    }),
  },
  { additionalProperties: false },
)
