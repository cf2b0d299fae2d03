import { useQuery } from "@tanstack/react-query";
import { data, useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { useFormat } from "../../ui/format";
import { Failure, Loading } from "../../ui/notices";
import { ServerText } from "../../ui/ServerText";

/** Whom models are asked of: how much, and until when somebody who asked to wait is left alone. */
export function Providers() {
  const texts = useTexts().operations;
  const format = useFormat();
  const api = useApi();
  const found = useQuery({
    queryKey: ["", "providers"],
    queryFn: async () => data(await api.GET("/operations/providers")).providers,
    refetchInterval: 5_000,
  });
  if (found.isPending) return <Loading />;
  if (found.data?.length === 0) {
    return (
      <section>
        <h2>{texts.providers}</h2>
        <p className="hint">{texts.noProviders}</p>
      </section>
    );
  }
  if (found.error) return <Failure error={found.error} />;
  return (
    <section>
      <h2>{texts.providers}</h2>
      <dl className="facts">
        {found.data.map((one) => (
          <div key={one.name}>
            <dt>{one.name}</dt>
            <dd>
              <span className={one.paused ? "badge partial" : "badge processed"}>
                {one.paused ? texts.pausedUntil(new Date(one.paused_until ?? 0).toLocaleTimeString()) : texts.answers}
              </span>{" "}
              <span className="hint">{texts.asked(format.number(one.calls), format.number(one.requests), format.number(one.tokens))}</span>
              {one.reason && <p className="hint"><ServerText text={one.reason} /></p>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
