import { CirclePlus, Combine, List, Share2, X } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { useWorkspace } from "../../api/client";
import { useMayWrite, useSeesAllDocuments } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Empty, Failure, Loading } from "../../ui/notices";
import { CreateDialog } from "./EditDialogs";
import { EntityPanel } from "./EntityPanel";
import { DocumentFilter, ExportMenu, Legend } from "./GraphTools";
import type { View } from "./looks";
import { NodeList } from "./NodeList";
import { Search } from "./Search";
import { TimeSlider } from "./TimeSlider";
import { useChanges } from "./useChanges";
import { type DrawnGraph, kindsIn, useSubgraph } from "./useSubgraph";

const Canvas = lazy(() => import("./Canvas"));

/** Milliseconds after which the graph shows an edit, as a rule: the log has it at once. */
const SETTLED = 1_200;

function Size({ graph, isLoading, isTruncated }: { graph: DrawnGraph; isLoading: boolean; isTruncated: boolean }) {
  const texts = useTexts();
  return (
    <span className="hint" role="status">
      {isLoading ? texts.common.loading : texts.graph.size(graph.order, graph.size)}
      {isTruncated && ` · ${texts.graph.truncated}`}
    </span>
  );
}

/** The entities of a walk in their order. */
function WalkBar({ hops, onSelect, onEnd }: { hops: string[]; onSelect: (name: string) => void; onEnd: () => void }) {
  const texts = useTexts();
  return (
    <div className="walk">
      <span className="hint">{texts.graph.walk}</span>
      <ol>
        {hops.map((hop, index) => (
          <li key={`${index} ${hop}`}>
            <button type="button" className="chip" onClick={() => onSelect(hop)}>
              {hop}
            </button>
          </li>
        ))}
      </ol>
      <Button look="quiet" icon={X} label={texts.common.close} onPress={onEnd} />
    </div>
  );
}

/** The walk that the address names: each of its entities is loaded with what is around it. */
function useWalk(hops: string[], load: (label: string, depth: number, nodes: number) => Promise<void>, isReady: boolean): void {
  const key = hops.join("\n");
  useEffect(() => {
    if (!key || !isReady) return;
    void (async () => {
      for (const hop of key.split("\n")) await load(hop, 1, 30);
    })();
  }, [key, load, isReady]);
}

/** Leads to the names that may mean the same; closed to whom documents may be hidden from. */
function NamesLink() {
  const texts = useTexts();
  const workspace = useWorkspace();
  if (!useSeesAllDocuments()) return null;
  return (
    <Link className="button quiet" to={`/${workspace}/graph/names`}>
      <Combine size={16} aria-hidden /> {texts.graph.namesLink}
    </Link>
  );
}

/** The graph: found by name, opened by click, corrected, and seen as it was. */
export default function GraphPage() {
  const texts = useTexts();
  const mayWrite = useMayWrite();
  const [params, setParams] = useSearchParams();
  const [asOf, setAsOf] = useState("");
  const [since, setSince] = useState("");
  const [hiddenTypes, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [file, setFile] = useState("");
  const [isList, setList] = useState(false);
  const [isCreating, setCreating] = useState(false);
  const { graph, types, load, add, version, loads, isTruncated, isLoading, error } = useSubgraph(asOf);
  const difference = useChanges(since, asOf, loads, add);
  const picture = useRef<() => Promise<Blob | null>>(() => Promise.resolve(null));
  const selected = params.get("entity") ?? "";
  const hops = params.getAll("hop");
  const hopsKey = hops.join("\n");
  const view = useMemo(
    (): View => ({ selected, hiddenTypes, file, changes: difference.changes, hops: hopsKey ? hopsKey.split("\n") : [] }),
    [selected, hiddenTypes, file, difference.changes, hopsKey],
  );
  const select = (name: string) => setParams([...hops.map((hop) => ["hop", hop]), ...(name ? [["entity", name]] : [])] as [string, string][]);
  const facts = graph.hasNode(selected) ? graph.getNodeAttributes(selected).facts : undefined;
  const isMissing = selected !== "" && version > 0 && !graph.hasNode(selected) && !isLoading;
  useWalk(hops, load, version > 0);

  useEffect(() => {
    if (isMissing && !error) void load(selected, 1, 100);
    // A name that is not in the graph is asked for once, not after each answer.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [selected, version === 0]);

  const changed = (name: string) => {
    select(name);
    setTimeout(() => void load(name || "*", 2, 300, true), SETTLED);
  };
  const moved = (from: string, to: string) => {
    setSince(from);
    setAsOf(to);
  };
  const expand = (name: string) => void load(name, 1, 200);
  const failure = error ?? difference.error;
  const isPast = Boolean(asOf || since);
  const isEditable = mayWrite && !isPast;
  return (
    <div className="graph-page">
      <h1 className="hidden">{texts.nav.graph}</h1>
      <div className="toolbar">
        <Search onChoose={(name) => void load(name, 1, 100).then(() => select(name))} />
        <Legend types={types} hidden={hiddenTypes} onChange={setHidden} />
        <DocumentFilter graph={graph} value={file} onChange={setFile} />
        <div className="tools">
          <Size graph={graph} isLoading={isLoading} isTruncated={isTruncated} />
          <ExportMenu graph={graph} picture={() => picture.current()} />
          <NamesLink />
          <Button look="quiet" icon={List} label={texts.graph.list} aria-pressed={isList} onPress={() => setList(!isList)} />
          {isEditable && <Button look="quiet" icon={CirclePlus} label={texts.graph.create} onPress={() => setCreating(true)} />}
        </div>
      </div>
      {hops.length > 0 && <WalkBar hops={hops} onSelect={select} onEnd={() => setParams(selected ? { entity: selected } : {})} />}
      {failure !== null && <Failure error={failure} retry={() => void load("*", 2, 300, true)} />}
      <div className="stage-of-graph">
        {version > 0 && graph.order === 0 && (
          <Empty icon={Share2} title={texts.graph.empty}>
            <p>{texts.graph.emptyText}</p>
          </Empty>
        )}
        <Suspense fallback={<Loading />}>
          <Canvas graph={graph} version={version} view={view} onSelect={select} onExpand={expand} label={texts.graph.size(graph.order, graph.size)} picture={picture} />
        </Suspense>
        {isList && <NodeList graph={graph} view={view} onSelect={select} onMerged={isEditable ? changed : undefined} />}
        {facts && (
          <EntityPanel key={facts.name} facts={facts} graph={graph} onSelect={select} onExpand={() => expand(facts.name)} onChanged={changed} isPast={isPast} />
        )}
      </div>
      <TimeSlider onChange={moved} changes={difference.changes} />
      {isCreating && <CreateDialog kinds={kindsIn(graph)} onClose={() => setCreating(false)} onChanged={changed} />}
    </div>
  );
}
