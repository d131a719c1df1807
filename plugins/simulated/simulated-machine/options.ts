/** Hardware of the simulated machine. */
import { type Static, Type } from 'typebox'

const Seconds = (fallback: number, description: string) =>
  Type.Number({ default: fallback, minimum: 0, maximum: 3_600, description })
const Ip4 = (fallback: string, description: string) =>
  Type.String({ default: fallback, pattern: '^(|(\\d{1,3}\\.){3}\\d{1,3})$', description })
const Name = (description: string) => Type.String({ pattern: '^[A-Za-z0-9._-]{1,15}$', description })
const Cidr = (fallback: string, description: string) =>
  Type.String({ default: fallback, pattern: '^(\\d{1,3}\\.){3}\\d{1,3}/\\d{1,2}$', description })

const Port = Type.Object(
  {
    name: Name('As the kernel would name it'),
    mac: Type.String({ default: '', pattern: '^(|([0-9a-f]{2}:){5}[0-9a-f]{2})$', description: 'Empty: made up' }),
    cable: Type.Boolean({ default: true, description: 'A cable is plugged in at first' }),
    address: Cidr('192.168.1.50/24', 'Address from the DHCP server'),
    gateway: Ip4('192.168.1.1', 'Gateway and name server of that network; empty: none'),
  },
  { additionalProperties: false },
)
export type SimulatedPort = Static<typeof Port>

export const SimulatedAccessPoint = Type.Object(
  {
    ssid: Type.String({ minLength: 1, maxLength: 32, description: 'Name of the network' }),
    password: Type.String({ default: '', maxLength: 64, description: 'Empty: open' }),
    bssid: Type.String({ default: '', pattern: '^(|([0-9a-f]{2}:){5}[0-9a-f]{2})$', description: 'Empty: made up' }),
    channel: Type.Integer({ default: 1, minimum: 1, maximum: 165, description: 'WiFi channel' }),
    rssi: Type.Integer({ default: -60, minimum: -100, maximum: -20, description: 'dBm' }),
    auth: Type.Union(
      [
        Type.Literal(''),
        Type.Literal('open'),
        Type.Literal('wep'),
        Type.Literal('wpa-psk'),
        Type.Literal('wpa2-psk'),
        Type.Literal('wpa3-sae'),
        Type.Literal('wpa-eap'),
      ],
      { default: '', description: 'Empty: wpa2-psk with a password, else open' },
    ),
    address: Cidr('192.168.8.50/24', 'Address from its DHCP server'),
    gateway: Ip4('192.168.8.1', 'Gateway and name server of that network; empty: none'),
  },
  { additionalProperties: false },
)
export type SimulatedAccessPoint = Static<typeof SimulatedAccessPoint>

export const MachineOptions = Type.Object(
  {
    ethernet: Type.Array(Port, {
      default: [{ name: 'eth0' }],
      maxItems: 4,
      description: 'Ethernet ports; the first has the lowest metric',
    }),
    radio: Type.Boolean({ default: true, description: 'There is a WiFi radio, wlan0' }),
    scansAsAp: Type.Boolean({
      default: false,
      description: 'The radio can look for networks while it is an access point',
    }),
    canBeAp: Type.Boolean({ default: true, description: 'The radio can be an access point' }),
    networks: Type.Array(SimulatedAccessPoint, {
      default: [
        { ssid: 'workshop', password: 'correct horse', channel: 6, rssi: -52 },
        { ssid: 'guests', channel: 11, rssi: -71 },
      ],
      maxItems: 64,
      description: 'Networks in the air',
    }),
    link_s: Seconds(0.1, 'From a plugged cable to the carrier'),
    dhcp_s: Seconds(0.5, 'A lease takes so long'),
    dhcpTimeout_s: Seconds(45, 'The DHCP client gives up after so long'),
    associate_s: Seconds(1, 'An association takes so long; a wrong password is noticed after three times that'),
    ap_s: Seconds(0.3, 'An access point starts in so long'),
    scan_s: Seconds(3, 'A scan takes so long'),
    restart_s: Seconds(1, 'The daemon needs so long to be ready after its start'),
  },
  { additionalProperties: false },
)
export type MachineOptions = Static<typeof MachineOptions>
