/** Milliseconds between two looks at whether readers know what the log has, and how often one looks at most. */
const PAUSE = 250;
const MOST_LOOKS = 20;

/** Reads again and again until it is as wanted, or for some seconds; what was written comes to readers a moment later. */
export async function readUntil<T>(read: () => Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  for (let look = 1; ; look += 1) {
    const value = await read();
    if (isWanted(value) || look >= MOST_LOOKS) return value;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}
