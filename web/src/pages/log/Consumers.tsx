import { useSyncExternalStore } from "react";
import type { Schemas } from "../../api/client";
import { useTexts } from "../../texts";
import { Failure } from "../../ui/notices";
import { lagOf, line, type Point, series } from "./series";
import { useConsumers } from "./useConsumers";

const WIDTH = 150;
const HEIGHT = 34;

/** The lag as a line, the rate as bars below it. Both are said in words beside it. */
function Chart({ points }: { points: Point[] }) {
  const fastest = Math.max(1, ...points.map(({ rate }) => rate));
  const step = WIDTH / 59;
  return (
    <svg className="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
      {points.map(({ rate }, index) => {
        const height = (HEIGHT * rate) / fastest;
        return <rect key={index} x={WIDTH - step * (points.length - index)} y={HEIGHT - height} width={step * 0.8} height={height} />;
      })}
      <polyline points={line(points.map(({ lag }) => lag), WIDTH, HEIGHT)} />
    </svg>
  );
}

function Consumer({ progress, points }: { progress: Schemas["ConsumerProgress"]; points: Point[] }) {
  const texts = useTexts().log;
  const lag = lagOf(progress);
  const rate = progress.rate ?? 0;
  return (
    <li className={lag > 0 ? "busy" : ""}>
      <p className="name">{progress.name}</p>
      <Chart points={points} />
      <p>
        {texts.waiting(lag)} <span className="hint">{rate > 0 && texts.rate(rate)}</span>{" "}
        <span className="hint">{lag > 0 && rate > 0 && texts.secondsLeft(Math.ceil(lag / rate))}</span>
      </p>
    </li>
  );
}

/** How far each consumer of the deployment is behind the log, and how fast it goes. */
export function Consumers() {
  const texts = useTexts().log;
  const seen = useSyncExternalStore(series.subscribe, series.get);
  const consumers = useConsumers();
  return (
    <details className="consumers" open>
      <summary>{texts.consumers}</summary>
      <p className="hint">{texts.consumersText}</p>
      {consumers.error && <Failure error={consumers.error} />}
      <ul>
        {consumers.data?.map((one) => (
          <Consumer key={one.name} progress={one} points={seen[one.name] ?? []} />
        ))}
      </ul>
    </details>
  );
}
