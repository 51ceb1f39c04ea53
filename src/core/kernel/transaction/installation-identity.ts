/** The identity of the installation, read at boot; the epoch is also read with every credential (gate.ts). A recovery changes the epoch. */
export interface Identity {
  id: string
  epoch: string
}
