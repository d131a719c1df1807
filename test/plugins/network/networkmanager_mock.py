"""NetworkManager as python-dbusmock's template has it, with what the template lacks: states that take their time, addresses, scans,
passwords, Update2 and AddConnection2. What happens to it is said in the language of the simulated network (method Do).
"""

import functools
import time

import dbus
import dbusmock
from dbusmock import MOCK_IFACE
from dbusmock.mockobject import DBusMockObject, objects
from dbusmock.templates import networkmanager as stock
from dbusmock.templates.networkmanager import *  # noqa: F403 the template's own methods are part of this one
from gi.repository import GLib

BUS_NAME = stock.BUS_NAME
MAIN_OBJ = stock.MAIN_OBJ
SYSTEM_BUS = True
IS_OBJECT_MANAGER = True

NM = stock.MANAGER_OBJ
NM_IFACE = stock.MANAGER_IFACE
DEVICE = stock.DEVICE_IFACE
WIRED = DEVICE + '.Wired'
WIRELESS = stock.WIRELESS_DEVICE_IFACE
POINT = stock.ACCESS_POINT_IFACE
ACTIVE = stock.ACTIVE_CONNECTION_IFACE
SETTINGS = stock.SETTINGS_IFACE
CONNECTION = stock.CSETTINGS_IFACE
IP4 = NM_IFACE + '.IP4Config'
SECURITY = '802-11-wireless-security'

step_ms = 15
connectivity = {'unknown': 0, 'none': 1, 'portal': 2, 'local': 3, 'internet': 4}


def frequency(channel):
    return 2407 + 5 * channel if channel < 15 else 5000 + 5 * channel


def change(obj, interface, properties):
    obj.props[interface].update(properties)
    changed = [interface, dbus.Dictionary(properties, signature='sv'), dbus.Array([], signature='s')]
    obj.EmitSignal(dbus.PROPERTIES_IFACE, 'PropertiesChanged', 'sa{sv}as', changed)


def text(value):
    return bytes(value).decode()


class Network:
    """What is behind a cable or in the air."""

    def __init__(self, ssid, password, channel, rssi, address, gateway):
        self.ssid, self.password, self.channel, self.rssi = ssid, password, channel, rssi
        self.address, self.gateway = address, gateway
        self.dhcp, self.reach, self.path = True, 'internet', None


class Device:
    """A device and its states: activation takes one step each."""

    def __init__(self, world, name, path):
        self.world, self.name, self.path = world, name, path
        self.managed, self.cable, self.killed = True, True, False
        self.turn, self.active, self.connection = 0, None, None

    @property
    def obj(self):
        return objects[self.path]

    @property
    def autoconnect(self):
        return bool(self.obj.props[DEVICE]['Autoconnect'])

    @property
    def state(self):
        return int(self.obj.props[DEVICE]['State'])

    def update(self, **properties):
        change(self.obj, DEVICE, properties)

    def to(self, state, reason=0):
        before = self.state
        # The state changes first, what follows from it is said after it.
        self.update(State=dbus.UInt32(state), StateReason=dbus.Struct([dbus.UInt32(state), dbus.UInt32(reason)], signature='uu'))
        self.obj.EmitSignal(DEVICE, 'StateChanged', 'uuu', [dbus.UInt32(state), dbus.UInt32(before), dbus.UInt32(reason)])

    def later(self, fn, steps=1):
        turn = self.turn

        def run():
            if turn == self.turn:
                fn()
            return False

        GLib.timeout_add(step_ms * steps, run)

    def drop(self, reason, state=30):
        self.turn += 1
        active, self.active, self.connection = self.active, None, None
        if state == 120:
            self.to(120, reason)
            state, reason = 30, 0
        elif self.state == 100 and state == 30:
            self.to(110, reason)
        # The device first: what follows from its state is said after it.
        self.to(state, reason)
        if active:
            change(objects[active], ACTIVE, {'State': dbus.UInt32(4)})
            objects[MAIN_OBJ].object_manager_emit_removed(active)
            objects[NM].RemoveObject(active)
        config = self.obj.props[DEVICE]['Ip4Config']
        self.update(ActiveConnection=dbus.ObjectPath('/'), Ip4Config=dbus.ObjectPath('/'))
        if config != '/':
            objects[MAIN_OBJ].object_manager_emit_removed(config)
            objects[NM].RemoveObject(config)
        if WIRELESS in self.obj.props:
            change(self.obj, WIRELESS, {'ActiveAccessPoint': dbus.ObjectPath('/'), 'Mode': dbus.UInt32(2)})

    def activate(self, connection):
        if self.active or self.state not in (30, 120):
            self.drop(60)
        self.world.count += 1
        settings = connection.settings
        path = f'{NM}/ActiveConnection/{self.world.count}'
        self.active, self.connection = path, connection
        objects[NM].AddObject(path, ACTIVE, {
            'Devices': dbus.Array([dbus.ObjectPath(self.path)], signature='o'), 'State': dbus.UInt32(1),
            'Connection': dbus.ObjectPath(connection.path), 'Id': settings['connection']['id'],
            'Uuid': settings['connection']['uuid'], 'Type': settings['connection']['type'], 'Default': False,
            'SpecificObject': dbus.ObjectPath('/'),
        }, [])
        objects[MAIN_OBJ].object_manager_emit_added(path)
        self.update(ActiveConnection=dbus.ObjectPath(path))
        self.to(40)
        self.later(lambda: self.configure(settings))
        return path

    def configure(self, settings):
        self.to(50)
        wifi = settings.get('802-11-wireless')
        if wifi is None:
            self.later(lambda: self.lease(self.world.cables[self.name], 100 + int(self.name[-1])))
        elif wifi['mode'] == 'ap':
            address = settings['ipv4']['address-data'][0]
            self.point(Network(text(wifi['ssid']), '', int(wifi['channel']), 0, f"{address['address']}/{address['prefix']}", ''), 3)
        else:
            network = self.world.air.get(text(wifi['ssid']))
            psk = str(settings.get(SECURITY, {}).get('psk', ''))
            if network is None:
                self.later(lambda: self.drop(53, 120), 3)
            elif network.password and network.password != psk:
                self.to(60, 8)
                self.later(lambda: self.drop(7, 120), 3)
            else:
                self.point(network, 2)

    def point(self, network, mode):
        change(self.obj, WIRELESS, {'Mode': dbus.UInt32(mode)})
        path = network.path
        if mode == 3:
            self.world.count += 1
            path = f'{NM}/AccessPoint/own{self.world.count}'
            self.world.add_point(path, network, 'AA:BB:CC:00:00:01', 3)
        change(self.obj, WIRELESS, {'ActiveAccessPoint': dbus.ObjectPath(path)})
        self.later(lambda: self.lease(network, 600))

    def lease(self, network, metric):
        self.to(70)
        if not network.dhcp:
            # The hall is for those who give up, or are interrupted.
            self.later(lambda: self.drop(17, 120), 4000 if network.ssid == 'hall' else 10)
            return
        self.later(lambda: self.up(network, metric))

    def up(self, network, metric):
        address, prefix = network.address.split('/')
        self.world.count += 1
        path = f'{NM}/IP4Config/{self.world.count}'
        routes = []
        if network.gateway:
            route = {'dest': '0.0.0.0', 'prefix': dbus.UInt32(0), 'next-hop': network.gateway, 'metric': dbus.UInt32(metric)}
            routes.append(dbus.Dictionary(route, signature='sv'))
        objects[NM].AddObject(path, IP4, {
            'AddressData': dbus.Array([dbus.Dictionary({'address': address, 'prefix': dbus.UInt32(int(prefix))}, signature='sv')], signature='a{sv}'),
            'Gateway': network.gateway, 'RouteData': dbus.Array(routes, signature='a{sv}'),
            'NameserverData': dbus.Array([], signature='a{sv}'),
        }, [])
        objects[MAIN_OBJ].object_manager_emit_added(path)
        self.update(Ip4Config=dbus.ObjectPath(path), Ip4Connectivity=dbus.UInt32(connectivity[network.reach]))
        self.to(100)
        change(objects[self.active], ACTIVE, {'State': dbus.UInt32(2)})

    def reconsider(self, reason=40):
        if not self.managed:
            return self.drop(3, 10) if self.state != 10 else None
        if not self.cable or self.killed:
            return self.drop(reason, 20) if self.state != 20 else None
        if self.state in (10, 20):
            self.to(30)
        if self.state == 30 and self.autoconnect:
            self.by_itself()
        return None

    def by_itself(self):
        stored = [one for one in self.world.connections.values()
                  if one.settings['connection'].get('interface-name') == self.name and one.settings['connection'].get('autoconnect', True)]
        if stored:
            self.activate(stored[0])


class Connection:
    def __init__(self, path, settings):
        self.path, self.settings = path, settings


class World:
    def __init__(self, mock):
        self.mock, self.count, self.refusal, self.broken = mock, 0, '', ''
        self.connections, self.devices, self.air = {}, {}, {}
        self.cables = {'eth0': Network('', '', 0, 0, '192.168.1.50/24', '192.168.1.1')}

    def check(self, member=''):
        if member and member == self.broken:
            raise dbus.exceptions.DBusException('out of order', name=NM_IFACE + '.Failed')
        if self.refusal:
            raise dbus.exceptions.DBusException(self.refusal, name=NM_IFACE + '.PermissionDenied')

    def add_device(self, name):
        add = stock.AddWiFiDevice if name.startswith('wlan') else stock.AddEthernetDevice
        self.count += 1
        path = add(objects[NM], f'{self.count}', name, 30)
        obj = objects[path]
        device = self.devices[name] = Device(self, name, path)
        obj.AddProperties(DEVICE, {
            'HwAddress': '02:00:5E:00:01:01' if name == 'eth0' else '02:00:5E:00:03:01', 'Autoconnect': True,
            'Ip4Config': dbus.ObjectPath('/'), 'Ip6Config': dbus.ObjectPath('/'), 'Ip4Connectivity': dbus.UInt32(0),
        })
        obj.device = device
        obj.AddMethod(DEVICE, 'Disconnect', '', '', 'self.device.world.disconnect(self.device)')
        if name.startswith('wlan'):
            obj.AddProperties(WIRELESS, {'LastScan': dbus.Int64(-1), 'ActiveAccessPoint': dbus.ObjectPath('/')})
            obj.AddMethod(WIRELESS, 'RequestScan', 'a{sv}', '', 'self.device.world.scan(self.device)')
            for network in self.air.values():
                self.show(network)
        else:
            change(obj, WIRED, {'Carrier': device.cable})
        self.mock.object_manager_emit_added(path)
        return device

    def disconnect(self, device):
        self.check('Disconnect')
        if not device.active:
            raise dbus.exceptions.DBusException('This device is not active', name=DEVICE + '.NotActive')
        device.update(Autoconnect=False)
        device.drop(39)

    def scan(self, device):
        self.check()
        if int(device.obj.props[WIRELESS]['Mode']) == 3:
            raise dbus.exceptions.DBusException('Scanning not allowed in AP mode', name=DEVICE + '.NotAllowed')

        def end():
            self.points()
            change(device.obj, WIRELESS, {'LastScan': dbus.Int64(time.monotonic() * 1000)})

        GLib.timeout_add(step_ms, lambda: end() or False)

    def add_point(self, path, network, address, mode):
        psk = 0x100 if network.password else 0
        objects[NM].AddObject(path, POINT, {
            'Ssid': dbus.ByteArray(network.ssid.encode()), 'HwAddress': address, 'Flags': dbus.UInt32(1 if psk else 0),
            'Frequency': dbus.UInt32(frequency(network.channel)), 'Mode': dbus.UInt32(mode), 'RsnFlags': dbus.UInt32(psk),
            'WpaFlags': dbus.UInt32(0), 'Strength': dbus.Byte(round((network.rssi + 100) / 0.6) if mode == 2 else 0),
        }, [])
        self.mock.object_manager_emit_added(path)

    def show(self, network):
        self.count += 1
        network.path = f'{NM}/AccessPoint/{self.count}'
        self.add_point(network.path, network, f'02:00:5E:00:AA:{self.count:02X}', 2)

    def points(self):
        paths = dbus.Array([dbus.ObjectPath(one.path) for one in self.air.values() if one.path], signature='o')
        if 'wlan0' in self.devices:
            change(self.devices['wlan0'].obj, WIRELESS, {'AccessPoints': paths})

    def store(self, settings):
        self.check()
        self.count += 1
        path = f'{NM}/Settings/{self.count}'
        connection = self.connections[path] = Connection(path, settings)
        objects[NM].AddObject(path, CONNECTION, {'Unsaved': False}, [
            ('Delete', '', '', 'self.world.delete(self.path)'),
            ('GetSettings', '', 'a{sa{sv}}', 'ret = self.world.public(self.path)'),
            ('GetSecrets', 's', 'a{sa{sv}}', 'ret = self.world.secrets(self.path, args[0])'),
            ('Update2', 'a{sa{sv}}ua{sv}', 'a{sv}', 'ret = self.world.change(self.path, args[0])'),
        ])
        objects[path].world = self
        self.available()
        return connection

    def available(self):
        for device in self.devices.values():
            fits = [dbus.ObjectPath(path) for path, one in self.connections.items()
                    if one.settings['connection'].get('interface-name') == device.name]
            device.update(AvailableConnections=dbus.Array(fits, signature='o'))

    def delete(self, path):
        del self.connections[path]
        self.available()
        objects[NM].RemoveObject(path)

    def change(self, path, settings):
        self.check()
        self.connections[path].settings = settings
        return dbus.Dictionary({}, signature='sv')

    def public(self, path):
        settings = self.connections[path].settings
        keep = {name: {key: value for key, value in section.items() if key != 'psk'} for name, section in settings.items()}
        return dbus.Dictionary({name: dbus.Dictionary(section, signature='sv') for name, section in keep.items()}, signature='sa{sv}')

    def secrets(self, path, name):
        psk = self.connections[path].settings[name]['psk']
        return dbus.Dictionary({name: dbus.Dictionary({'psk': psk}, signature='sv')}, signature='sa{sv}')

    def by_uuid(self, uuid):
        for path, connection in self.connections.items():
            if connection.settings['connection']['uuid'] == uuid:
                return dbus.ObjectPath(path)
        raise dbus.exceptions.DBusException('No connection with the UUID was found.', name=SETTINGS + '.InvalidConnection')

    def activate(self, connection, path):
        self.check('ActivateConnection')
        device = next(one for one in self.devices.values() if one.path == path)
        if connection == '/':
            connection = device.obj.props[DEVICE]['AvailableConnections'][0]
        return dbus.ObjectPath(device.activate(self.connections[connection]))

    # What happens to it, in the language of the simulated network

    def do(self, line):
        word, *args = line.split()
        getattr(self, 'do_' + word.replace('-', '_'))(*args)

    def do_cable(self, name, on):
        device = self.devices[name]
        device.cable = on == 'on'
        change(device.obj, WIRED, {'Carrier': device.cable})
        device.reconsider()

    def behind(self, name):
        return self.cables.get(name) or self.air[name]

    def do_dhcp(self, name, on):
        self.behind(name).dhcp = on == 'on'

    def do_reach(self, name, reach):
        self.behind(name).reach = reach
        for device in self.devices.values():
            if device.name == name and device.state == 100:
                device.update(Ip4Connectivity=dbus.UInt32(connectivity[reach]))

    def do_activate(self, name):
        self.devices[name].by_itself()

    def do_disconnect(self, name):
        self.devices[name].drop(39)

    def do_remove(self, name):
        device = self.devices.pop(name)
        device.drop(36)
        self.mock.object_manager_emit_removed(device.path)
        objects[NM].RemoveObject(device.path)

    def do_insert(self, name):
        self.add_device(name).reconsider()
        self.available()

    def do_network(self, ssid, password, channel, rssi):
        password = '' if password == 'open' else password
        network = self.air[ssid] = Network(ssid, password, int(channel), int(rssi), '192.168.8.50/24', '192.168.8.1')
        self.show(network)

    def do_network_off(self, ssid):
        network = self.air.pop(ssid)
        self.points()
        device = self.devices['wlan0']
        if device.obj.props[WIRELESS]['ActiveAccessPoint'] == network.path:
            device.drop(53, 120)

    def do_break(self, member):
        self.broken = member

    def do_refuse(self, *words):
        self.refusal = '' if words == ('off',) else ' '.join(words)


def load(mock, parameters):
    stock.load(mock, parameters)
    world = mock.world = World(mock)
    objects[stock.MAIN_OBJ] = mock
    manager, settings = objects[NM], objects[stock.SETTINGS_OBJ]
    manager.world = settings.world = world
    manager.AddProperties(NM_IFACE, {'ConnectivityCheckEnabled': True})
    manager.AddMethod(NM_IFACE, 'ActivateConnection', 'ooo', 'o', 'ret = self.world.activate(args[0], args[1])')
    settings.AddMethod(SETTINGS, 'AddConnection2', 'a{sa{sv}}ua{sv}', 'oa{sv}',
                       'ret = (dbus.ObjectPath(self.world.store(args[0]).path), dbus.Dictionary({}, signature="sv"))')
    settings.AddMethod(SETTINGS, 'GetConnectionByUuid', 's', 'o', 'ret = self.world.by_uuid(args[0])')

    original = DBusMockObject.Set

    @functools.wraps(original)
    def checked(self, interface, name, value, *args, **kwargs):
        if name != 'Autoconnect':
            return original(self, interface, name, value, *args, **kwargs)
        world.check()
        original(self, interface, name, dbus.Boolean(value), *args, **kwargs)
        return self.device.reconsider()

    DBusMockObject.Set = checked
    for line in ('workshop correct-horse 6 -52', 'guests open 11 -70'):
        ssid, password, channel, rssi = line.split()
        world.air[ssid] = Network(ssid, '' if password == 'open' else password, int(channel), int(rssi), '192.168.8.50/24', '192.168.8.1')
    for name in ('eth0', 'wlan0'):
        world.add_device(name)
    wired = {'connection': {'id': 'Wired connection 1', 'uuid': '5a3c3a4e-0000-4000-8000-000000000001', 'type': '802-3-ethernet',
                            'interface-name': 'eth0', 'autoconnect': True}, 'ipv4': {'method': 'auto'}}
    world.store(wired)
    world.devices['eth0'].reconsider()


@dbus.service.method(MOCK_IFACE, in_signature='s', out_signature='')
def Do(self, line):
    """Something happens to the machine."""
    objects[stock.MAIN_OBJ].world.do(line)


@dbus.service.method(MOCK_IFACE, in_signature='', out_signature='s')
def Stored(self):
    """Our profiles: name, network and password of each."""
    profiles = [one.settings for one in objects[stock.MAIN_OBJ].world.connections.values() if '802-11-wireless' in one.settings]
    return '; '.join(f"{one['connection']['id']} {text(one['802-11-wireless']['ssid'])} {one.get(SECURITY, {}).get('psk', '')}" for one in profiles)


@dbus.service.method(MOCK_IFACE, in_signature='', out_signature='s')
def MayConnect(self):
    """The devices that may connect by themselves."""
    return ' '.join(name for name, one in objects[stock.MAIN_OBJ].world.devices.items() if one.autoconnect)
