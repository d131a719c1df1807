/** For each part of the bench a fault of the product that `--smoke` has to see: one in code that the bytes of that part pass. */

export interface BenchMutation {
  readonly part: string
  readonly file: string
  /** Stands there once. */
  readonly before: string
  readonly after: string
}

export const benchMutations: readonly BenchMutation[] = [
  // One frame in many is not handed over, by a byte of its checksum.
  {
    part: 'framing',
    file: 'runtime/lib/gnss/framer.ts',
    before: 'this.#emit(first, this.#copy(bytes, at, size), arrival_ms)',
    after: 'if (bytes[at + size - 1] >> 2 !== 7) this.#emit(first, this.#copy(bytes, at, size), arrival_ms)',
  },
  {
    part: 'apn',
    file: 'plugins/network/modem/apn/lookup.ts',
    before: 'Object.hasOwn(networks, plmn) ? networks[plmn] : []',
    after: "Object.hasOwn(networks, plmn) && plmn !== '26201' ? networks[plmn] : []",
  },
  // An hour is never enough.
  {
    part: 'baseline',
    file: 'runtime/lib/baseline/solution.ts',
    before: 'const least_s = 300\n',
    after: 'const least_s = 30_000\n',
  },
  // Frames without observations are lost.
  {
    part: 'latency',
    file: 'plugins/rtcm/udp-rtcm/socket.ts',
    before: 'this.#socket.send(bytes, 0, bytes.length, port, address)',
    after: 'if (bytes.length > 100) this.#socket.send(bytes, 0, bytes.length, port, address)',
  },
  // Those who came last get nothing.
  {
    part: 'fan-out',
    file: 'plugins/rtcm/rtcm/subscribers.ts',
    before: 'for (const subscription of this.#all) subscription.push(frame, epoch)',
    after: 'for (const subscription of [...this.#all].slice(0, 150)) subscription.push(frame, epoch)',
  },
  {
    part: 'ntrip',
    file: 'plugins/rtcm/ntrip-caster/mount.ts',
    before: 'connection.write(chunked ? piece.chunk : piece.bytes)',
    after: 'if (Math.random() < 0.9) connection.write(chunked ? piece.chunk : piece.bytes)',
  },
  {
    part: 'ntrip-hour',
    file: 'runtime/lib/ntrip/distributor.ts',
    before: 'if (chosen.length === 0) return',
    after: 'if (chosen.length === 0 || sequence % 10 < 2) return',
  },
  {
    part: 'http',
    file: 'plugins/page/http-api/readings.ts',
    before: 'return reply.type(json).send(bytesOf(',
    after: 'return reply.code(Math.random() < 0.02 ? 500 : 200).type(json).send(bytesOf(',
  },
  // Whoever names a foreign host is not answered.
  {
    part: 'hostile',
    file: 'runtime/gateway/http/admission.ts',
    before: 'const refused = refusal({ method, url, headers, rawHeaders, peer, upgrade }, rules)',
    after:
      "const refused = refusal({ method, url, headers, rawHeaders, peer, upgrade }, rules)\n    if (refused?.code === 'RTK_ERR_FORBIDDEN_HOST') request.socket.destroy()",
  },
  // The first signal ends it at once.
  {
    part: 'start',
    file: 'runtime/tools/cli/run/stop.ts',
    before: 'if (stop.signal.aborted) process.exit(1)',
    after: 'process.exit(1)',
  },
  // A warning of Node: one listener more with each reload.
  {
    part: 'reloads',
    file: 'runtime/tools/control/server.ts',
    before: "reload: async (params) => runtime.reload(text(params, 'plugin')),",
    after:
      "reload: async (params) => {\n      process.on('exit', () => {})\n      return runtime.reload(text(params, 'plugin'))\n    },",
  },
  // The accuracy that is stated is a twentieth of the true one.
  {
    part: 'survey',
    file: 'plugins/reference/survey-in/survey/estimator.ts',
    before: 'return Math.sqrt(averaged + drift',
    after: 'return 0.05 * Math.sqrt(averaged + drift',
  },
  // Of two moves, the last one is shown alone.
  {
    part: 'moves',
    file: 'plugins/reference/integrity/shown-move.ts',
    before: 'return sum(this.#earlier, this.#present)',
    after: 'return sum(undefined, this.#present)',
  },
  {
    part: 'holds',
    file: 'plugins/reference/integrity/code/offset-watch.ts',
    before: 'limit: (sigma_m) => times(3, explained(sigma_m))',
    after: 'limit: (sigma_m) => times(0.1, explained(sigma_m))',
  },
  {
    part: 'still',
    file: 'plugins/reference/integrity/phase/motion.ts',
    before: 'level.up) >= this.#threshold_m) return true',
    after: 'level.up) >= 0) return true',
  },
  {
    part: 'day',
    file: 'plugins/rtcm/udp-rtcm/socket.ts',
    before: 'this.#socket.send(bytes, 0, bytes.length, port, address)',
    after: 'if (Math.random() < 0.99) this.#socket.send(bytes, 0, bytes.length, port, address)',
  },
  {
    part: 'dashboard',
    file: 'plugins/page/dashboard/events/hub.ts',
    before: 'for (const page of this.#pages) {',
    after: 'for (const page of [...this.#pages].slice(1)) {',
  },
  {
    part: 'fleet',
    file: 'plugins/mqtt/mqtt-link/session/client.ts',
    before: "online: 'y',",
    after: "online: 'r',",
  },
  {
    part: 'fleet-caster',
    file: 'plugins/fleet/fleet-caster/bases/base-feed.ts',
    before: 'if (publication.frames.length === 0) {',
    after: 'if (publication.frames.length === 0 || Math.random() < 0.1) {',
  },
  // Each entry of the record is stored twice.
  {
    part: 'fleet-load',
    file: 'plugins/fleet/fleet-registry/store/station-store.ts',
    before: "return entries.map((entry) => ({ ...entry, t_s, by: '' }))",
    after: "return [...entries, ...entries].map((entry) => ({ ...entry, t_s, by: '' }))",
  },
  {
    part: 'rest',
    file: 'runtime/platform/store/store.ts',
    before: 'await this.#files.write({ number, contents, reports, settle: stale > 0 })',
    after:
      "process.stderr.write('written\\n')\n    await this.#files.write({ number, contents, reports, settle: stale > 0 })",
  },
  // It looks a thousand times a second.
  {
    part: 'idle',
    file: 'plugins/rtcm/udp-rtcm/peers.ts',
    before: 'const look_ms = 1_000',
    after: 'const look_ms = 1',
  },
  {
    part: 'wire',
    file: 'plugins/mqtt/mqtt-api/index.ts',
    before: "'base/{SN}/info/get': () => publications.onDemand(),",
    after: "'base/{SN}/info/get': () => undefined,",
  },
]
