import type { ImageManifest } from 'rtk-base/image'
import { RtkError } from 'rtk-base/plugin'

/** The installer of whole bundles, as used by the trial of a version. */
export interface Installer {
  /** Name of the running slot. */
  readonly running: string
  /** The trial succeeded: the running slot is started from now on. Durable once resolved. */
  confirm(): Promise<void>
  /** The trial failed: the one before is started from now on. */
  giveUp(): Promise<void>
  /** Ends this run and starts the next version. */
  restart(): Promise<void>
}

/** Installs the files of a verified image: the slots of the launcher. */
export interface FolderInstaller extends Installer {
  /**
   * An empty slot for the files of an image. The previous and the running version are untouched.
   * @throws RTK_ERR_UNAVAILABLE with the reason without free space
   */
  prepare(manifest: ImageManifest): Promise<{ slot: string; folder: string }>
  /** The files are there: from the next start on the bundle is on trial. Durable when it resolves. */
  commit(manifest: ImageManifest): Promise<void>
  /** Removes what `prepare` made. */
  abandon(): Promise<void>
  /** A slot with an unreported failed trial. */
  givenUp(): Promise<string | undefined>
  /** The failed trial was reported. */
  reported(): Promise<void>
}

/** Takes a whole file in a format of its own, and verifies its signature itself: RAUC. */
export interface BundleInstaller extends Installer {
  /**
   * Resolves when the bundle is installed and is started next.
   * @throws RTK_ERR_IMAGE when it was refused, RTK_ERR_UPDATE_RUNNING, RTK_ERR_UNAVAILABLE; OutcomeUnknown
   */
  install(file: string, steps: InstallSteps): Promise<void>
}

export interface InstallSteps {
  /** Called before anything is written. */
  begin(bundle: { version: string; slot: string }): Promise<void>
  progress(percent: number): void
}

/** The installer was lost from sight: it may have ended what it began, or not. */
export class OutcomeUnknown extends RtkError {
  constructor(text: string) {
    super('RTK_ERR_UNAVAILABLE', text)
  }
}
