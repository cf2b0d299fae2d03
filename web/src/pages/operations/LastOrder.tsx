import type { Schemas } from "../../api/client";
import { useTexts } from "../../texts";
import { CopyButton } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Compared, type ComparedQuestions } from "./Compared";

interface Compared {
  same: boolean;
  rebuilt: Digest;
  live: Digest | null;
}

interface Digest {
  sha256: string;
  counts?: Record<string, number>;
}

/** How many rows of each kind the new generation has, and the live one where it has others. */
function Sizes({ rebuilt, live }: { rebuilt: Digest; live: Digest | null }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const kinds = [...new Set([...Object.keys(rebuilt.counts ?? {}), ...Object.keys(live?.counts ?? {})])];
  const sizes = kinds.map((kind) => {
    const [now, before] = [rebuilt.counts?.[kind] ?? 0, live?.counts?.[kind] ?? 0];
    const told = `${texts.kindsOfRows[kind] ?? kind} ${format.number(now)}`;
    return live && before !== now ? `${told} (${texts.live} ${format.number(before)})` : told;
  });
  return <span className="hint">{sizes.join(", ")}</span>;
}

/** What became of the last order, with the digests it compared. */
export function LastOrder({ last }: { last: Schemas["LastOrder"] }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const digests = Object.entries((last.result.digests ?? {}) as Record<string, Compared>);
  return (
    <div className={`last-order ${last.state}`}>
      <p>
        <strong>
          {texts.steps[last.step] ?? last.step} ({texts.projectionNames[last.projection]})
        </strong>{" "}
        {texts.orderStates[last.state]}
        <span className="hint">
          {" "}
          · {format.ago(last.ended || last.started)} · {last.who}
          {last.reason && ` · ${last.reason}`}
        </span>
      </p>
      {last.error && <p className="fault">{last.error}</p>}
      {last.result.compared !== undefined && <Compared compared={last.result.compared as ComparedQuestions} />}
      {digests.length > 0 && (
        <ul>
          {digests.map(([name, { same, rebuilt, live }]) => (
            <li key={name}>
              {texts.projectionNames[name]} <span className={same ? "badge processed" : "badge partial"}>{same ? texts.same : texts.differs}</span>
              <code title={`${texts.digest} ${rebuilt.sha256}`}>{rebuilt.sha256.slice(0, 16)}…</code>
              <CopyButton text={rebuilt.sha256} />
              <Sizes rebuilt={rebuilt} live={live} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
