import { useQuery } from "@tanstack/react-query";
import { Expand, Pencil, Trash2, X } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { data, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure, Loading } from "../../ui/notices";
import { EditDialog, RemoveDialog } from "./EditDialogs";
import { type DrawnGraph, type NodeFacts, sentences } from "./useSubgraph";

function History({ name }: { name: string }) {
  const texts = useTexts();
  const api = useApi();
  const history = useQuery({
    queryKey: [useWorkspace(), "history", name],
    queryFn: async () => data(await api.GET("/graph/entity/history", { params: { query: { name, limit: 50 } } })),
  });
  if (history.isPending) return <Loading />;
  if (history.error) return <Failure error={history.error} />;
  return (
    <ol className="history">
      {history.data.events.map((event) => (
        <li key={`${event.sequence} ${event.chunk_id}`} className={event.effect === "counts" ? "" : "past"}>
          <span className="type">
            #{event.sequence} {event.operation || event.type}
          </span>
          {event.effect !== "counts" && <em> {texts.graph.effects[event.effect] ?? event.effect}</em>}
          {event.file_path && <p>{event.file_path}</p>}
          {event.description && <p>{event.description}</p>}
        </li>
      ))}
    </ol>
  );
}

function Sources({ ids }: { ids: string[] }) {
  const texts = useTexts();
  const workspace = useWorkspace();
  return (
    <ul className="provenance">
      {ids.map((id) => (
        <li key={id}>
          <Link to={`/${workspace}/documents/${encodeURIComponent(id.replace(/-chunk-\d+$/, ""))}?chunk=${encodeURIComponent(id)}`}>
            {texts.graph.chunkOf(Number(/-chunk-(\d+)$/.exec(id)?.[1] ?? 0) + 1, id.slice(4, 12))}
          </Link>
        </li>
      ))}
    </ul>
  );
}

type PanelProps = {
  facts: NodeFacts;
  graph: DrawnGraph;
  onSelect: (name: string) => void;
  onExpand: () => void;
  onChanged: (name: string) => void;
  isPast: boolean;
};

/** An entity: what is said of it, where that comes from, with what it is connected, and how it came to be so. */
export function EntityPanel({ facts, graph, onSelect, onExpand, onChanged, isPast }: PanelProps) {
  const texts = useTexts();
  const mayWrite = useMayWrite() && !isPast;
  const [dialog, setDialog] = useState<"" | "edit" | "remove">("");
  const relations = graph.hasNode(facts.name) ? graph.mapEdges(facts.name, (_, { facts: edge }) => edge) : [];
  return (
    <aside className="entity" aria-label={facts.name}>
      <header>
        <h2>{facts.name}</h2>
        <Button look="quiet" icon={X} label={texts.common.close} onPress={() => onSelect("")} />
      </header>
      <p className="hint">{facts.type}</p>
      <div className="add">
        <Button icon={Expand} onPress={onExpand}>
          {texts.graph.expand}
        </Button>
        {mayWrite && <Button look="quiet" icon={Pencil} label={texts.graph.edit} onPress={() => setDialog("edit")} />}
        {mayWrite && <Button look="quiet" icon={Trash2} label={texts.graph.remove} onPress={() => setDialog("remove")} />}
      </div>
      {sentences(facts.description).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <h3>
        {texts.graph.relations} <span>{relations.length}</span>
      </h3>
      <ul className="relations">
        {relations.map((edge) => {
          const other = edge.source === facts.name ? edge.target : edge.source;
          return (
            <li key={other}>
              <button type="button" onClick={() => onSelect(other)}>
                {other}
              </button>
              <p>{sentences(edge.description).join(" · ")}</p>
            </li>
          );
        })}
      </ul>
      <details>
        <summary>
          {texts.graph.provenance} <span>{facts.sources.length}</span>
        </summary>
        <Sources ids={facts.sources} />
      </details>
      <details>
        <summary>{texts.graph.history}</summary>
        <History name={facts.name} />
      </details>
      {dialog === "edit" && <EditDialog facts={facts} onClose={() => setDialog("")} onChanged={onChanged} />}
      {dialog === "remove" && (
        <RemoveDialog name={facts.name} relations={relations.length} onClose={() => setDialog("")} onChanged={() => onChanged("")} />
      )}
    </aside>
  );
}
