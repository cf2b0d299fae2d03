import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { data, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button, CopyButton } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Failure, Loading } from "../../ui/notices";

const NAMES = ["status", "graph", "vectors"] as const;
const WATCHED = 1_000;

type Found = Partial<Record<(typeof NAMES)[number], string>> & { counts?: Record<string, Record<string, number>> };

function Rows({ found }: { found: Found }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const sizes = (counts: Record<string, number> = {}) =>
    Object.entries(counts).map(([kind, count]) => `${texts.kindsOfRows[kind] ?? kind} ${format.number(count)}`);
  return (
    <ul className="digests">
      {NAMES.map((name) => (
        <li key={name}>
          <strong>{texts.projectionNames[name]}</strong> <code title={found[name]}>{found[name]?.slice(0, 16)}…</code>
          <CopyButton text={found[name] ?? ""} /> <span className="hint">{sizes(found.counts?.[name]).join(", ")}</span>
        </li>
      ))}
    </ul>
  );
}

/** How much the live generations hold of a workspace, and the digests by which two of them are known to be the same. */
export function Digests() {
  const texts = useTexts().operations;
  const format = useFormat();
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const state = useQuery({
    queryKey: ["", "digests"],
    queryFn: async () => data(await api.GET("/operations/projections/digests")),
    refetchInterval: (query) => (query.state.data?.last?.state === "running" ? WATCHED : false),
  });
  const order = useMutation({
    mutationFn: () => api.POST("/operations/projections/digests", { body: { reason: "" } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["", "digests"] }),
  });
  if (state.isPending) return <Loading />;
  if (state.error) return <Failure error={state.error} retry={() => void state.refetch()} />;
  const { last, workspace: of, takes_orders: takesOrders } = state.data;
  const isRunning = last?.state === "running" || order.isPending;
  return (
    <section className="box">
      <h2>{texts.digests}</h2>
      <p className="hint">{texts.digestsText}</p>
      {order.error && <Failure error={order.error} />}
      {last?.state === "done" && <Rows found={last.result as Found} />}
      {last && last.state !== "done" && <p role="status">{texts.orderStates[last.state]}</p>}
      {last?.error && <p className="fault">{last.error}</p>}
      {last && (
        <p className="hint">
          {texts.workspaceOf(of)} · {format.ago(last.ended || last.started)} · {last.who}
        </p>
      )}
      {mayWrite && (
        <div className="add">
          <Button isDisabled={isRunning || !takesOrders} onPress={() => order.mutate()}>
            {texts.makeDigests(workspace)}
          </Button>
        </div>
      )}
    </section>
  );
}
