import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { data, useApi, useWorkspace } from "../api/client";
import { useSeesAll } from "../api/principal";
import { readiness } from "../api/readiness";
import { useTexts } from "../texts";
import { useFormat } from "../ui/format";
import { Notice } from "../ui/notices";

/** Milliseconds between two looks. */
const INTERVAL = 15_000;
const UNDER_WAY = ["pending", "parsing", "analyzing", "processing", "preprocessed"];

/** How many documents of the workspace are still being read. */
function useUnderWay(): number {
  const api = useApi();
  const counts = useQuery({
    queryKey: [useWorkspace(), "documents", "counts"],
    queryFn: async () => data(await api.GET("/documents/status_counts")).status_counts,
    refetchInterval: INTERVAL,
  });
  return UNDER_WAY.reduce((sum, status) => sum + (counts.data?.[status] ?? 0), 0);
}

/** Says in one sentence what is unusual and what that means, the worst first: a store that fails, a provider that refuses, documents that are not read yet. */
export function StateNotice() {
  const texts = useTexts().states;
  const format = useFormat();
  const api = useApi();
  const workspace = useWorkspace();
  const seesAll = useSeesAll();
  const underWay = useUnderWay();
  const ready = useQuery({ queryKey: ["", "ready"], queryFn: readiness, refetchInterval: INTERVAL });
  const providers = useQuery({
    queryKey: ["", "providers"],
    queryFn: async () => data(await api.GET("/operations/providers")).providers,
    enabled: seesAll,
    refetchInterval: INTERVAL,
  });
  const faults = Object.keys(ready.data?.problems ?? {});
  const paused = providers.data?.find((provider) => provider.paused);
  const more = seesAll && <Link to={`/${workspace}/operations`}>{texts.more}</Link>;
  if (faults.length > 0)
    return (
      <Notice kind="warning">
        {texts.fault(faults.map((part) => texts.parts[part] ?? part).join(", "))} {more}
      </Notice>
    );
  if (paused)
    return (
      <Notice kind="warning">
        {texts.refusing(paused.name, paused.paused_until ? format.minute(paused.paused_until) : "")} {more}
      </Notice>
    );
  if (underWay > 0) return <Notice>{texts.behind(underWay)}</Notice>;
  return null;
}
