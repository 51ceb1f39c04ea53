export function replaceFiles(from: string, to: string): void
