import { type Static, Type } from 'typebox'

/** Deploy-time options of the plugin. */
export const NetworkOptions = Type.Object(
  {
    backend: Type.Union([Type.Literal('networkmanager'), Type.Literal('simulator')], {
      default: 'networkmanager',
      description: 'Who manages the interfaces of the machine; simulator: those of the plugin simulated-machine',
    }),
    bus: Type.String({
      default: '',
      pattern: '^(|(unix|tcp):.+)$',
      description:
        'D-Bus address of NetworkManager; empty: DBUS_SYSTEM_BUS_ADDRESS, else the system bus of the machine',
    }),
  },
  { additionalProperties: false },
)
export type NetworkOptions = Static<typeof NetworkOptions>
