import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Slider, SliderOutput, SliderThumb, SliderTrack } from "react-aria-components";
import { data, useApi, useWorkspace } from "../../api/client";
import { useSeesAllDocuments } from "../../api/principal";
import { useTexts } from "../../texts";
import { useFormat } from "../../ui/format";
import type { Change, Changes } from "./changes";

type TimeSliderProps = {
  /** Is told since which place changes are shown, "" for none, and as of which the graph is, "" for now. */
  onChange: (since: string, asOf: string) => void;
  changes: Changes | undefined;
};

const CHANGES: Change[] = ["appeared", "changed", "gone"];

function Counts({ changes }: { changes: Changes }) {
  const texts = useTexts();
  const all = [...changes.nodes.values(), ...changes.edges.values()];
  return (
    <span className="changes" role="status">
      {CHANGES.map((change) => (
        <span key={change} className={change}>
          {texts.graph.changes[change]} {all.filter((one) => one === change).length}
        </span>
      ))}
    </span>
  );
}

/** Callers who are bound to workspaces see places from here on, which have no order: for them the slider goes over times. */
const WITHOUT_ORDER = 2 ** 52;

/** When the log took the event at a place, or the one before it. */
function useMoment(place: number | null) {
  const api = useApi();
  const found = useQuery({
    queryKey: [useWorkspace(), "moment", place],
    queryFn: async () => data(await api.GET("/events", { params: { query: { limit: 1, before: (place ?? 0) + 1 } } })).events[0]?.time ?? null,
    enabled: place !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return place === null ? null : found.data;
}

/** The first and the last place of the workspace's log, or the milliseconds of its first and last event; they move while one looks. */
function useRange() {
  const api = useApi();
  const workspace = useWorkspace();
  const newest = useQuery({
    queryKey: [workspace, "newest"],
    queryFn: async () => data(await api.GET("/events", { params: { query: { limit: 1 } } })).events[0] ?? null,
    enabled: useSeesAllDocuments(),
    refetchInterval: 15_000,
  });
  const isTime = (newest.data?.sequence ?? 0) >= WITHOUT_ORDER;
  const oldest = useQuery({
    queryKey: [workspace, "oldest"],
    queryFn: async () => data(await api.GET("/events", { params: { query: { limit: 1, after: 0 } } })).events[0] ?? null,
    enabled: isTime,
  });
  if (!isTime) return { first: 1, last: newest.data?.sequence ?? 0, isTime };
  // The next millisecond: an event's own time is a little earlier than when the log took it.
  const last = newest.data ? Date.parse(newest.data.time) + 1 : 0;
  return { first: oldest.data ? Date.parse(oldest.data.time) : last, last, isTime };
}

/** Chooses a place in the log, and the graph is shown as it was then; or two, and what changed between them is shown in colours. */
export function TimeSlider({ onChange, changes }: TimeSliderProps) {
  const texts = useTexts();
  const format = useFormat();
  const { first, last, isTime } = useRange();
  // null is the end of the log, wherever that is by now; `since` is null as long as nothing is compared.
  const [since, setSince] = useState<number | null>(null);
  const [place, setPlace] = useState<number | null>(null);
  const [shown, setShown] = useState<number | null>(null);
  const moment = useMoment(isTime ? null : shown);
  if (last < 2 || last <= first) return null;

  const point = (at: number | null) => (at === null ? "" : isTime ? new Date(at).toISOString() : String(at));
  const named = (at: number) => (isTime ? format.moment(new Date(at).toISOString()) : `#${format.number(at)}`);

  const show = (from: number | null, to: number | null) => {
    setSince(from);
    setPlace(to);
    setShown(to);
    onChange(point(from), point(to));
  };
  const read = (values: number[]): [number | null, number | null] => {
    const to = values.at(-1) ?? last;
    return [values.length > 1 ? (values[0] ?? first) : null, to >= last ? null : to];
  };
  const move = (values: number[]) => {
    const [from, to] = read(values);
    setSince(from);
    setPlace(to);
  };
  const values = since === null ? [place ?? last] : [since, place ?? last];
  const names = since === null ? [texts.graph.time] : [texts.graph.from, texts.graph.until];
  const said = place === null ? texts.graph.now : isTime ? named(place) : texts.graph.at(format.number(place));
  return (
    <Slider className="time" minValue={first} maxValue={last} value={values} onChange={move} onChangeEnd={(ended) => show(...read(ended))} aria-label={texts.graph.time}>
      <SliderTrack className="rail">
        {values.map((_, index) => (
          <SliderThumb key={index} index={index} className="thumb" aria-label={names[index] ?? ""} />
        ))}
      </SliderTrack>
      {since !== null && changes && <Counts changes={changes} />}
      {(place !== null || since !== null) && (
        <button type="button" className="chip" aria-pressed={since !== null} onClick={() => (since === null ? show(place, null) : show(null, since))}>
          {texts.graph.since}
        </button>
      )}
      <SliderOutput>
        {since !== null && `${named(since)} – `}
        {said}
        {moment && <span className="hint"> · {format.moment(moment)}</span>}
      </SliderOutput>
    </Slider>
  );
}
