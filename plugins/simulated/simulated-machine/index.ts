import { definePlugin } from 'rtk-base/plugin'
import { network, networkErrors, simulatedLeds, simulatedNetwork, simulatedRadio } from 'rtk-base/services'
import { Type } from 'typebox'
import { makeLeds } from './leds.js'
import { runNetworkCommand } from './network/commands.js'
import { SimulatedMachine } from './network/machine.js'
import { MachineOptions } from './options.js'
import { runRadioCommand } from './radio/commands.js'
import { SimulatedRadioMachine } from './radio/machine.js'

/** A machine without hardware: network interfaces, the programs around a WiFi radio, and LEDs. */
export default definePlugin({
  name: 'simulated-machine',
  version: '1.0.0',
  api: '^1.0.0',
  errors: networkErrors,
  options: MachineOptions,
  provides: [simulatedNetwork, simulatedRadio, simulatedLeds],

  setup(ctx, options) {
    const { services } = ctx
    const machine = new SimulatedMachine(ctx, options)
    // The radio belongs to the station's network, with any network manager.
    const radio = new SimulatedRadioMachine(ctx, () => services.find(network)?.interfaces ?? [])
    services.provide(simulatedNetwork, { backend: machine, command: (line) => runNetworkCommand(machine, line) })
    services.provide(simulatedRadio, { machine: radio, command: (line) => runRadioCommand(radio, line) })
    services.provide(simulatedLeds, { folder: () => makeLeds(ctx.dataDir('leds').path) })
    const line = Type.Optional(Type.String())
    ctx.action({
      name: 'sim-network',
      summary: 'sim-network=LINE controls the simulated network (help lists the lines)',
      input: { line },
      run: ({ input }) => runNetworkCommand(machine, input.line ?? ''),
    })
    ctx.action({
      name: 'sim-radio',
      summary: 'sim-radio=LINE controls the simulated radio (help lists the lines)',
      input: { line },
      run: ({ input }) => runRadioCommand(radio, input.line ?? ''),
    })
    return machine
  },

  start(_ctx, _handoff, machine) {
    machine.daemon(true, 0)
  },

  stop(_reason, machine) {
    machine.daemon(false)
  },
})
