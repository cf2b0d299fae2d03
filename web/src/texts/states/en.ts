const count = (n: number) => (n === 1 ? "1 document is" : `${n.toLocaleString("en")} documents are`);

export const states = {
  fault: (parts: string) => `Not everything works just now (${parts}): answers and lists may be incomplete or fail until it does. Nothing that was added is lost.`,
  refusing: (name: string, until: string) =>
    `${name} takes no requests${until ? ` until ${until}` : " just now"}: documents that need it wait, and go on by themselves. What was read before is answered as ever.`,
  behind: (n: number) => `${count(n)} still being read: answers know only a part of what is in there so far.`,
  more: "What is wrong",
  /** Of what the service says of itself, by its names for them. */
  parts: {
    log: "the log",
    stores: "a store",
    publishes: "writing to the log",
    region: "region",
    clock: "clock",
    webhooks: "webhooks",
    "log: audit": "examination of the log",
  } as Record<string, string>,
};
