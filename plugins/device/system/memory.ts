import { freemem, totalmem } from 'node:os'
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'

interface Memory {
  free: number
  used: number
  freeblocks: number
  usedblocks: number
}

/** This process's heap, bytes; blocks are V8's heap spaces, those with and those without anything in them. */
export function processMemory(): Memory {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
  const spaces = getHeapSpaceStatistics()
  const usedblocks = spaces.filter((space) => space.space_used_size > 0).length
  return { free: limit - used, used, freeblocks: spaces.length - usedblocks, usedblocks }
}

/** The machine's memory, bytes; it has no blocks to count. */
export function machineMemory(): Memory {
  const free = freemem()
  return { free, used: totalmem() - free, freeblocks: 0, usedblocks: 0 }
}
