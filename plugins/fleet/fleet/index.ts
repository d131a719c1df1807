import { join } from 'node:path'
import { disk, readPlainSync } from 'rtk-base/files'
import { definePlugin, RtkError } from 'rtk-base/plugin'
import { accounts, embeddedBroker, fleetAccess, fleetBroker, fleetDatabase, fleetJobs } from 'rtk-base/services'
import { Type } from 'typebox'
import { BrokerLink, type BrokerTarget } from './broker/broker-link.js'
import { Database } from './database/database.js'
import { openEmbedded } from './database/embedded.js'
import { openPostgres } from './database/postgres.js'
import { Jobs } from './jobs.js'
import { People } from './people.js'
import { accessOf, peopleRoutes } from './people-routes.js'

const file = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))

/** Bytes of a file with certificates, a key, or a password. */
const mostFile = 1 << 20

const Options = Type.Object(
  {
    broker: Type.String({
      default: '',
      pattern: '^($|mqtts?://[^\\s]+$)',
      description: 'The broker of the stations, mqtt://HOST:PORT or mqtts://HOST:PORT; empty: the embedded broker',
    }),
    ca: file('PEM file of the authority of the broker; default: those that Node.js knows'),
    cert: file('PEM file of the client certificate of the fleet'),
    key: file('PEM file of its private key'),
    username: file('User name at the broker'),
    passwordFile: file('File with the password at the broker'),
    database: Type.String({
      default: '',
      pattern: '^($|postgres(ql)?://[^\\s]+$)',
      description: 'PostgreSQL 13 or later, postgres://USER:PASSWORD@HOST/DATABASE; empty: the embedded database',
    }),
    databaseFile: file(
      'File with the address of the database, in place of `database`: keeps its password out of the variant',
    ),
  },
  { additionalProperties: false },
)

/** The connections that all plugins of a fleet share: broker, database, and the people who may log in. */
export default definePlugin({
  name: 'fleet',
  version: '1.0.0',
  api: '^1.0.0',
  provides: [fleetBroker, fleetDatabase, fleetJobs, fleetAccess, accounts],
  options: Options,

  setup(ctx, options) {
    if ((options.cert === undefined) !== (options.key === undefined))
      throw new RtkError('RTK_ERR_PLUGIN_OPTIONS', 'fleet.cert and fleet.key are needed together')
    const target = (): BrokerTarget | undefined => {
      const { broker, ca, cert, key, username, passwordFile } = options
      const inside = ctx.services.find(embeddedBroker)?.address
      const url = broker || (inside && `mqtt://${inside.host}:${inside.port}`)
      return url
        ? {
            url,
            ...(ca && { ca: readPlainSync(ca, mostFile) }),
            ...(cert && { cert: readPlainSync(cert, mostFile) }),
            ...(key && { key: readPlainSync(key, mostFile) }),
            ...(username && { username }),
            ...(passwordFile && { password: readPlainSync(passwordFile, mostFile).toString().trim() }),
          }
        : undefined
    }
    const broker = new BrokerLink(ctx, target)
    const databaseUrl = () =>
      options.databaseFile ? readPlainSync(options.databaseFile, mostFile).toString().trim() : options.database
    const embedded = () => ctx.dataDir('database').path
    const database = new Database(
      ctx,
      async (events) => {
        const url = databaseUrl()
        return url ? openPostgres(url, events) : openEmbedded(embedded(), events, ctx.clock)
      },
      async () => {
        const isThere = await disk.lstat(join(embedded(), 'PG_VERSION')).catch(() => undefined)
        return databaseUrl() && isThere ? openEmbedded(embedded(), { notified() {}, ended() {} }, ctx.clock) : undefined
      },
    )
    const jobs = new Jobs(ctx, database)
    const people = new People(ctx, database)
    ctx.services.provide(fleetBroker, broker)
    ctx.services.provide(fleetDatabase, database)
    ctx.services.provide(fleetJobs, jobs)
    ctx.services.provide(accounts, people)
    const access = accessOf(people)
    ctx.services.provide(fleetAccess, access)
    peopleRoutes(ctx, people, access)
    ctx.metrics.gauge({
      name: 'fleet_connected',
      help: 'Whether the fleet is connected to its broker and to its database.',
      labels: ['to'],
      collect: (gauge) => {
        gauge.set(broker.connected ? 1 : 0, { to: 'broker' })
        gauge.set(database.connected ? 1 : 0, { to: 'database' })
      },
    })
    return { broker, database, jobs, people }
  },

  start(_ctx, _handoff, { broker, database, jobs, people }) {
    database.start()
    jobs.start()
    broker.start()
    void people.start()
  },

  async stop(_reason, { broker, database }) {
    broker.stop()
    await database.stop()
  },
})
