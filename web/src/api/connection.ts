import { createStore } from "../ui/store";

/** Whether the server answered the last time it was asked anything. */
export const connected = createStore(true);

export function answered(whether: boolean): void {
  if (connected.get() !== whether) connected.set(whether);
}
