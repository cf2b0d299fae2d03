import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { type Changes, changesOf, partOf } from "./changes";
import type { Part } from "./useSubgraph";

const MOST = 1_000;

/** A function of its own: the query keeps what it made of an answer as long as it is the same function. */
const drawable = (found: Schemas["DiffResponse"]) => ({ changes: changesOf(found), part: partOf(found) });

/** What has changed between two places of the log; what is gone is added to what is drawn. `since`: "" for nothing; `until`: "" for now. */
export function useChanges(since: string, until: string, loads: number, add: (part: Part) => void): { changes: Changes | undefined; error: unknown } {
  const api = useApi();
  const diff = useQuery({
    queryKey: [useWorkspace(), "diff", since, until],
    queryFn: async () => data(await api.GET("/operations/diff", { params: { query: { from: since, ...(until ? { to: until } : {}), limit: MOST } } })),
    enabled: since !== "",
    select: drawable,
    structuralSharing: false,
  });
  const part = since ? diff.data?.part : undefined;
  // Added again after each load, which may have begun the graph anew.
  useEffect(() => {
    if (part && loads > 0) add(part);
  }, [part, loads, add]);
  return { changes: since ? diff.data?.changes : undefined, error: since ? diff.error : null };
}
