/** The slot that the launcher has started the service from. */
export interface RunningSlot {
  /** Folder of the slots and their state. */
  readonly root: string
  /** `a`, `b`, or `f` for the version installed with the system. */
  readonly running: string
  /** The running slot is not confirmed yet. */
  readonly onTrial: boolean
}

/** The launcher's environment variables; undefined without a launcher. */
export function slotFromEnvironment(env: NodeJS.ProcessEnv = process.env): RunningSlot | undefined {
  const { RTK_BASE_ROOT: root, RTK_BASE_SLOT: running, RTK_TRIAL: trial } = env
  return root && running ? { root, running, onTrial: trial === running } : undefined
}
