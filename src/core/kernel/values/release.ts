/**
 * Gives the memory of a chunk of a stream back, whose bytes nobody reads any more. Chunks hardly use the heap, so hundreds of them
 * would wait for a collection of all of it, which takes longer than the chunks do (docs/decisions/0514). A chunk that shares its
 * memory with others is left to the collection.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
