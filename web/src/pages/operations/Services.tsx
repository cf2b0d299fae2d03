import type { Schemas } from "../../api/client";
import { useTexts } from "../../texts";
import { Failure, Loading } from "../../ui/notices";
import { lagOf } from "../log/series";
import { useConsumers } from "../log/useConsumers";

type Progress = Schemas["ConsumerProgress"];

function Service({ stage, consumers }: { stage: string; consumers: Progress[] }) {
  const { log, operations } = useTexts();
  const lag = consumers.map(lagOf).reduce((sum, one) => sum + one, 0);
  const rate = consumers.reduce((sum, one) => sum + (one.rate ?? 0), 0);
  return (
    <div>
      <dt>{stage}</dt>
      <dd>
        <span className={lag > 0 ? "badge partial" : "badge processed"}>{lag > 0 ? log.waiting(lag) : operations.handledAll}</span>{" "}
        {rate > 0 && <span className="hint">{log.rate(rate)}</span>}
      </dd>
    </div>
  );
}

/** Each service, with the events that wait for its consumers and how many it handles a second. */
export function Services() {
  const texts = useTexts().operations;
  const consumers = useConsumers();
  if (consumers.isPending) return <Loading />;
  if (consumers.error) return <Failure error={consumers.error} />;
  const stages = [...new Set(consumers.data.map(({ stage }) => stage))];
  return (
    <section>
      <h2>{texts.services}</h2>
      <dl className="facts">
        {stages.map((stage) => (
          <Service key={stage} stage={stage} consumers={consumers.data.filter((one) => one.stage === stage)} />
        ))}
      </dl>
    </section>
  );
}
