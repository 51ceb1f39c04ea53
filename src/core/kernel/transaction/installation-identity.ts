/** Who the installation is, as this process knows it: read at boot, the epoch also with every credential (gate.ts). A recovery changes the epoch. */
export interface Identity {
  id: string
  epoch: string
}
