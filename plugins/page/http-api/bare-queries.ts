/** Bare queries as OpenAPI parameters. */
import { Command } from 'rtk-base/schemas'

/** A bare value such as `?0x02`: an object with one property, serialised as `0x02=`. */
export const maskParameter = {
  name: 'mask',
  in: 'query',
  required: false,
  style: 'form',
  explode: true,
  description:
    'Limits the document to the parts that the bits select; default: everything. 0x01 static, 0x02 runtime, 0x04 configuration, 0x100 with ' +
    'details; in a variant with `info.mask` 2: 0x01 runtime, 0x02 static, 0x04 configuration, 0x100 basic, 0x200 all. ' +
    'The name `mask` is not sent: the query is only the number, decimal or hexadecimal, with or without a trailing `=`',
  schema: {
    type: 'object',
    maxProperties: 1,
    propertyNames: { pattern: '^(0[xX][0-9a-fA-F]{1,8}|[0-9]{1,10})$' },
    additionalProperties: { type: 'string', const: '' },
  },
  examples: {
    runtime: { summary: '?0x02 live values', value: { '0x02': '' } },
    details: { summary: '?0x102 live values with details', value: { '0x102': '' } },
  },
} as const

/** `?cmd=reboot` is the same as `?reboot`. */
export const commandParameter = {
  name: 'cmd',
  in: 'query',
  required: true,
  description: 'The command. `?reboot` is the same as `?cmd=reboot`',
  schema: Command,
} as const
