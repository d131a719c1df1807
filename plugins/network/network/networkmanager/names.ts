/** Names on the bus (NetworkManager's introspection files), and its numbers (nm-dbus-interface.h). */
import type { InterfaceState, Reach } from 'rtk-base/services'

export const service = 'org.freedesktop.NetworkManager'
/** The object manager of the daemon sits above its own objects. */
export const managerPath = '/org/freedesktop'
export const rootPath = '/org/freedesktop/NetworkManager'
export const settingsPath = '/org/freedesktop/NetworkManager/Settings'
/** A path that means none, or the daemon's own choice. */
export const noPath = '/'

export const interfaces = {
  root: service,
  device: `${service}.Device`,
  wired: `${service}.Device.Wired`,
  wireless: `${service}.Device.Wireless`,
  accessPoint: `${service}.AccessPoint`,
  active: `${service}.Connection.Active`,
  ip4: `${service}.IP4Config`,
  ip6: `${service}.IP6Config`,
} as const
export const settingsInterface = `${service}.Settings`
export const connectionInterface = `${service}.Settings.Connection`
export const propertiesInterface = 'org.freedesktop.DBus.Properties'
export const objectManagerInterface = 'org.freedesktop.DBus.ObjectManager'

/** NMDeviceState */
export const deviceStates: Readonly<Record<number, InterfaceState>> = {
  0: 'unavailable',
  10: 'unmanaged',
  20: 'unavailable',
  30: 'disconnected',
  40: 'connecting',
  50: 'connecting',
  60: 'connecting',
  70: 'connecting',
  80: 'connecting',
  90: 'connecting',
  100: 'connected',
  110: 'disconnecting',
  120: 'failed',
}
export const deviceFailed = 120

/** NMActiveConnectionState */
export const activeStates = { activating: 1, activated: 2, deactivating: 3, deactivated: 4 } as const

/** NMConnectivityState */
export const connectivities: Readonly<Record<number, Reach>> = {
  0: 'unknown',
  1: 'none',
  2: 'portal',
  3: 'local',
  4: 'internet',
}

/** NM80211Mode */
export const wifiModes = { infrastructure: 2, ap: 3 } as const
/** NMDeviceWifiCapabilities */
export const capabilityAp = 0x40
/** NMDeviceType: one end of a pair inside the machine, e.g. of a container. */
export const deviceTypeVeth = 20

/** NM80211ApFlags, NM80211ApSecurityFlags */
export const security = { privacy: 0x1, psk: 0x100, eap: 0x200, sae: 0x400 } as const

/** NMSettingsUpdate2Flags, NMSettingsAddConnection2Flags: on disk, without automatic activation by this call. */
export const storeFlags = 0x1 | 0x20

/** No call of the daemon is waited for longer: an owner of a change parameter has 10 s in all. */
export const callLimit_ms = 4_000
/** An access point that starts, a network that is joined. */
export const activationLimit_ms = 60_000
export const scanLimit_ms = 15_000
/** The state is waited for at the start. */
export const startLimit_ms = 2_000
/** Metric of a preferred default route: below all metrics of the daemon (Ethernet 100, WiFi 600). */
export const preferredMetric = 1
