import { type ComponentType, lazy } from "react";
import { connected } from "./connection";

type Part<P extends object> = () => Promise<{ default: ComponentType<P> }>;

const waiting: (() => Promise<unknown>)[] = [];

const take = (part: () => Promise<unknown>) => void part().catch(() => undefined);

/** Loads the parts of the page that nobody has asked for yet. A browser never asks again for a part that it could not
 * get once, so they are got while the connection is there. */
export function loadAhead(): void {
  for (const part of waiting.splice(0)) take(part);
}

function untilConnected(): Promise<void> {
  if (connected.get()) return Promise.resolve();
  return new Promise((resolve) => {
    const end = connected.subscribe(() => {
      if (!connected.get()) return;
      end();
      resolve();
    });
  });
}

/** `lazy` of React for a part that is loaded ahead, and not asked for while the connection is lost. */
export function patient<P extends object>(part: Part<P>) {
  waiting.push(part);
  return lazy(async () => {
    await untilConnected();
    return part();
  });
}
