import { useQuery } from "@tanstack/react-query";
import { CirclePlus, List, Share2 } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { Slider, SliderOutput, SliderThumb, SliderTrack } from "react-aria-components";
import { useSearchParams } from "react-router";
import { data, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Empty, Failure, Loading } from "../../ui/notices";
import { CreateDialog } from "./EditDialogs";
import { EntityPanel } from "./EntityPanel";
import { Search } from "./Search";
import { type DrawnGraph, useSubgraph } from "./useSubgraph";

const Canvas = lazy(() => import("./Canvas"));

/** Milliseconds after which the graph shows an edit, as a rule: the log has it at once. */
const SETTLED = 1_200;

/** What the canvas shows, as a list, for keyboards and those who do not see it. */
function NodeList({ graph, hidden, onSelect }: { graph: DrawnGraph; hidden: ReadonlySet<string>; onSelect: (name: string) => void }) {
  const texts = useTexts();
  const nodes = graph
    .mapNodes((name, { facts }) => ({ name, type: facts.type, degree: graph.degree(name) }))
    .filter(({ type }) => !hidden.has(type))
    .sort((one, other) => other.degree - one.degree || one.name.localeCompare(other.name));
  return (
    <ul className="node-list" aria-label={texts.graph.list}>
      {nodes.map(({ name, type, degree }) => (
        <li key={name}>
          <button type="button" onClick={() => onSelect(name)}>
            {name} <span>{type}</span> <span>{degree}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Legend({ types, hidden, onChange }: { types: Map<string, string>; hidden: ReadonlySet<string>; onChange: (hidden: Set<string>) => void }) {
  const texts = useTexts();
  const toggle = (type: string) => {
    const next = new Set(hidden);
    if (!next.delete(type)) next.add(type);
    onChange(next);
  };
  return (
    <fieldset className="filters">
      <legend className="hidden">{texts.graph.types}</legend>
      {[...types].map(([type, color]) => (
        <button key={type} type="button" className="chip type" aria-pressed={!hidden.has(type)} onClick={() => toggle(type)}>
          <i style={{ background: color }} aria-hidden />
          {type}
        </button>
      ))}
    </fieldset>
  );
}

/** Chooses a place in the log; the graph is shown as it was then. */
function TimeSlider({ onChange }: { onChange: (asOf: string) => void }) {
  const texts = useTexts();
  const format = useFormat();
  const api = useApi();
  const newest = useQuery({
    queryKey: [useWorkspace(), "newest"],
    queryFn: async () => data(await api.GET("/events", { params: { query: { limit: 1 } } })).events[0]?.sequence ?? 0,
    refetchInterval: 15_000,
  });
  const last = newest.data ?? 0;
  const [place, setPlace] = useState<number | null>(null);
  if (last < 2) return null;
  const end = (value: number) => {
    setPlace(value >= last ? null : value);
    onChange(value >= last ? "" : String(value));
  };
  return (
    <Slider className="time" minValue={1} maxValue={last} value={place ?? last} onChange={setPlace} onChangeEnd={end} aria-label={texts.graph.time}>
      <SliderTrack className="rail">
        <SliderThumb className="thumb" />
      </SliderTrack>
      <SliderOutput>{place === null ? texts.graph.now : texts.graph.at(format.number(place))}</SliderOutput>
    </Slider>
  );
}

/** The graph: found by name, opened by click, corrected, and seen as it was. */
export default function GraphPage() {
  const texts = useTexts();
  const mayWrite = useMayWrite();
  const [params, setParams] = useSearchParams();
  const [asOf, setAsOf] = useState("");
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [isList, setList] = useState(false);
  const [isCreating, setCreating] = useState(false);
  const { graph, types, load, version, isTruncated, isLoading, error } = useSubgraph(asOf);
  const selected = params.get("entity") ?? "";
  const select = (name: string) => setParams(name ? { entity: name } : {});
  const facts = graph.hasNode(selected) ? graph.getNodeAttributes(selected).facts : undefined;
  const isMissing = selected !== "" && version > 0 && !graph.hasNode(selected) && !isLoading;

  useEffect(() => {
    if (isMissing && !error) void load(selected, 1, 100);
    // A name that is not in the graph is asked for once, not after each answer.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [selected, version === 0]);

  const changed = (name: string) => {
    select(name);
    setTimeout(() => void load(name || "*", 2, 300, true), SETTLED);
  };
  return (
    <div className="graph-page">
      <h1 className="hidden">{texts.nav.graph}</h1>
      <div className="toolbar">
        <Search onChoose={(name) => void load(name, 1, 100).then(() => select(name))} />
        <Legend types={types} hidden={hidden} onChange={setHidden} />
        <div className="tools">
          <span className="hint" role="status">
            {isLoading ? texts.common.loading : texts.graph.size(graph.order, graph.size)}
            {isTruncated && ` · ${texts.graph.truncated}`}
          </span>
          <Button look="quiet" icon={List} label={texts.graph.list} aria-pressed={isList} onPress={() => setList(!isList)} />
          {mayWrite && !asOf && <Button look="quiet" icon={CirclePlus} label={texts.graph.create} onPress={() => setCreating(true)} />}
        </div>
      </div>
      {error !== null && <Failure error={error} retry={() => void load("*", 2, 300, true)} />}
      <div className="stage-of-graph">
        {version > 0 && graph.order === 0 && (
          <Empty icon={Share2} title={texts.graph.empty}>
            <p>{texts.graph.emptyText}</p>
          </Empty>
        )}
        <Suspense fallback={<Loading />}>
          <Canvas graph={graph} version={version} selected={selected} hidden={hidden} onSelect={select} label={texts.graph.size(graph.order, graph.size)} />
        </Suspense>
        {isList && <NodeList graph={graph} hidden={hidden} onSelect={select} />}
        {facts && (
          <EntityPanel key={facts.name} facts={facts} graph={graph} onSelect={select} onExpand={() => void load(facts.name, 1, 200)} onChanged={changed} isPast={asOf !== ""} />
        )}
      </div>
      <TimeSlider onChange={setAsOf} />
      {isCreating && <CreateDialog onClose={() => setCreating(false)} onChanged={changed} />}
    </div>
  );
}
