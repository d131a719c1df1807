import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ClientFile } from 'rtk-base/plugin'

/** Answers with a file of a browser bundle, from memory; 404 without one. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: ClientFile | undefined) {
  if (!file) return reply.code(404).send()
  secured(reply).type(file.type).header('vary', 'accept-encoding')
  reply.header('cache-control', file.immutable ? 'max-age=31536000, immutable' : 'no-cache')
  if (!file.gzip || !/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file.bytes)
  return reply.header('content-encoding', 'gzip').send(file.gzip)
}

export const secured = (reply: FastifyReply) =>
  reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer')
