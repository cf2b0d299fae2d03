import { useQuery } from "@tanstack/react-query";
import { CirclePlus, Combine, Ellipsis, Expand, Pencil, Split, Trash2, X } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { data, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure, Loading } from "../../ui/notices";
import { UndoButton } from "../log/UndoButton";
import { Contradictions } from "./Contradictions";
import { EditDialog, RemoveDialog } from "./EditDialogs";
import { MergeDialog } from "./MergeDialog";
import { Origin } from "./Origin";
import { RelationDialog } from "./RelationDialog";
import { SplitDialog } from "./SplitDialog";
import { type DrawnGraph, type EdgeFacts, type NodeFacts, kindsIn, sentences } from "./useSubgraph";

/** Folds the log, so it is asked for when somebody looks, and again when the entity is described anew. */
function History({ facts, onUndone }: { facts: NodeFacts; onUndone: (() => void) | undefined }) {
  const texts = useTexts();
  const api = useApi();
  const history = useQuery({
    queryKey: [useWorkspace(), "history", facts.name, facts.type, facts.description],
    queryFn: async () => data(await api.GET("/graph/entity/history", { params: { query: { name: facts.name, limit: 50 } } })),
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
          {onUndone && event.operation && event.effect === "counts" && event.undone_by === null && (
            <UndoButton sequence={event.sequence} onDone={onUndone} />
          )}
        </li>
      ))}
    </ol>
  );
}

type RelationsProps = {
  name: string;
  relations: EdgeFacts[];
  onSelect: (name: string) => void;
  onEdit: (relation: EdgeFacts) => void;
  onAdd: (() => void) | undefined;
};

/** A hub has thousands: the heaviest are listed, the others are in the graph. */
const LISTED = 100;

function Relations({ name, relations, onSelect, onEdit, onAdd }: RelationsProps) {
  const texts = useTexts();
  const listed = [...relations].sort((one, other) => other.weight - one.weight).slice(0, LISTED);
  return (
    <>
      <h3>
        {texts.graph.relations} <span>{relations.length}</span>
        {onAdd && <Button look="quiet" icon={CirclePlus} label={texts.graph.relate} className="small" onPress={onAdd} />}
      </h3>
      <ul className="relations">
        {listed.map((edge) => {
          const other = edge.source === name ? edge.target : edge.source;
          return (
            <li key={other}>
              <div>
                <button type="button" onClick={() => onSelect(other)}>
                  {other}
                </button>
                <Button look="quiet" icon={Ellipsis} label={texts.graph.relationOf(name, other)} className="small" onPress={() => onEdit(edge)} />
              </div>
              <p>{sentences(edge.description).join(" · ")}</p>
            </li>
          );
        })}
      </ul>
      {relations.length > LISTED && <p className="hint">{texts.graph.moreRelations(relations.length - LISTED)}</p>}
    </>
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
  const workspace = useWorkspace();
  const mayWrite = useMayWrite() && !isPast;
  const [dialog, setDialog] = useState<"" | "edit" | "merge" | "split" | "remove">("");
  const [isHistory, setHistory] = useState(false);
  const [relation, setRelation] = useState<EdgeFacts | null | undefined>(undefined);
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
        {mayWrite && <Button look="quiet" icon={Combine} label={texts.graph.mergeOne} onPress={() => setDialog("merge")} />}
        {mayWrite && <Button look="quiet" icon={Split} label={texts.graph.split} onPress={() => setDialog("split")} />}
        {mayWrite && <Button look="quiet" icon={Trash2} label={texts.graph.remove} onPress={() => setDialog("remove")} />}
      </div>
      {sentences(facts.description).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <Relations name={facts.name} relations={relations} onSelect={onSelect} onEdit={setRelation} onAdd={mayWrite ? () => setRelation(null) : undefined} />
      <Origin name={facts.name} sources={facts.sources} isPast={isPast} />
      {!isPast && <Contradictions name={facts.name} />}
      <p>
        <Link to={`/${workspace}/receipts?entity=${encodeURIComponent(facts.name)}`}>{texts.receipts.rested}</Link>
      </p>
      <details onToggle={(event) => setHistory(event.currentTarget.open)}>
        <summary>{texts.graph.history}</summary>
        {isHistory && <History facts={facts} onUndone={mayWrite ? () => onChanged(facts.name) : undefined} />}
      </details>
      {dialog === "edit" && <EditDialog facts={facts} kinds={kindsIn(graph)} onClose={() => setDialog("")} onChanged={onChanged} />}
      {dialog === "merge" && <MergeDialog name={facts.name} onClose={() => setDialog("")} onChanged={onChanged} />}
      {dialog === "split" && <SplitDialog name={facts.name} onClose={() => setDialog("")} onChanged={onChanged} />}
      {dialog === "remove" && (
        <RemoveDialog name={facts.name} onClose={() => setDialog("")} onChanged={() => onChanged("")} />
      )}
      {relation !== undefined && (
        <RelationDialog
          name={facts.name}
          relation={relation}
          mayWrite={mayWrite}
          isPast={isPast}
          onClose={() => setRelation(undefined)}
          onChanged={() => onChanged(facts.name)}
        />
      )}
    </aside>
  );
}
