import { useQuery } from "@tanstack/react-query";
import { data, useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { useFormat } from "../../ui/format";
import { Failure, Loading } from "../../ui/notices";
import { Digests } from "./Digests";
import { Rebuild } from "./Rebuild";

const LOOKS: Record<string, string> = { current: "processed", behind: "", waiting: "partial", lost: "failed" };

/** How far status, graph and vectors are, and making them anew. */
export function Projections() {
  const texts = useTexts().operations;
  const format = useFormat();
  const api = useApi();
  const states = useQuery({
    queryKey: ["", "projections"],
    queryFn: async () => data(await api.GET("/operations/projections")),
    refetchInterval: 5_000,
  });
  if (states.isPending) return <Loading />;
  if (states.error) return <Failure error={states.error} retry={() => void states.refetch()} />;
  const { projections } = states.data;
  return (
    <>
      <div className="wide-table" tabIndex={0} role="region" aria-label={texts.tabs.projections}>
        <table className="sheet">
          <thead>
            <tr>
              <th scope="col">{texts.projection}</th>
              <th scope="col">{texts.state}</th>
              <th scope="col">{texts.generation}</th>
              <th scope="col">{texts.cursor}</th>
              <th scope="col">{texts.lag}</th>
              <th scope="col">{texts.rate}</th>
            </tr>
          </thead>
          <tbody>
            {projections.map((one) => (
              <tr key={one.projection}>
                <th scope="row">{texts.projectionNames[one.projection]}</th>
                <td>
                  <span className={`badge ${LOOKS[one.state] ?? ""}`}>{texts.states[one.state]}</span>
                  {one.why && <p className="hint">{one.why}</p>}
                </td>
                <td>
                  {one.generation}
                  {one.previous !== null && <span className="hint"> · {texts.before}: {one.previous}</span>}
                  {one.candidate !== null && <span className="hint"> · {texts.waits}: {one.candidate}</span>}
                </td>
                <td>
                  {format.number(one.cursor)} <span className="hint">/ {format.number(one.head)}</span>
                </td>
                <td>{format.number(one.lag)}</td>
                <td>{one.lag > 0 ? texts.perSecond(one.rate) : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Digests />
      <Rebuild projections={projections} />
    </>
  );
}
