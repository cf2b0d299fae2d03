import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Slider, SliderOutput, SliderThumb, SliderTrack } from "react-aria-components";
import { data, useApi, useWorkspace } from "../../api/client";
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

/** The last place of the workspace's log, which moves while one looks. */
function useNewest() {
  const api = useApi();
  const newest = useQuery({
    queryKey: [useWorkspace(), "newest"],
    queryFn: async () => data(await api.GET("/events", { params: { query: { limit: 1 } } })).events[0]?.sequence ?? 0,
    refetchInterval: 15_000,
  });
  return newest.data ?? 0;
}

/** Chooses a place in the log, and the graph is shown as it was then; or two, and what changed between them is shown in colours. */
export function TimeSlider({ onChange, changes }: TimeSliderProps) {
  const texts = useTexts();
  const format = useFormat();
  const last = useNewest();
  // null is the end of the log, wherever that is by now; `since` is null as long as nothing is compared.
  const [since, setSince] = useState<number | null>(null);
  const [place, setPlace] = useState<number | null>(null);
  const [shown, setShown] = useState<number | null>(null);
  const moment = useMoment(shown);
  if (last < 2) return null;

  const show = (from: number | null, to: number | null) => {
    setSince(from);
    setPlace(to);
    setShown(to);
    onChange(from === null ? "" : String(from), to === null ? "" : String(to));
  };
  const read = (values: number[]): [number | null, number | null] => {
    const to = values.at(-1) ?? last;
    return [values.length > 1 ? (values[0] ?? 1) : null, to >= last ? null : to];
  };
  const move = (values: number[]) => {
    const [from, to] = read(values);
    setSince(from);
    setPlace(to);
  };
  const values = since === null ? [place ?? last] : [since, place ?? last];
  const names = since === null ? [texts.graph.time] : [texts.graph.from, texts.graph.until];
  const said = place === null ? texts.graph.now : texts.graph.at(format.number(place));
  return (
    <Slider className="time" minValue={1} maxValue={last} value={values} onChange={move} onChangeEnd={(ended) => show(...read(ended))} aria-label={texts.graph.time}>
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
        {since !== null && `#${format.number(since)} – `}
        {said}
        {moment && <span className="hint"> · {format.moment(moment)}</span>}
      </SliderOutput>
    </Slider>
  );
}
