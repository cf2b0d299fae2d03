import { useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api as apiOf, data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useKnown } from "../../shell/WorkspaceMenu";
import { useTexts } from "../../texts";
import { useFormat, useMoney } from "../../ui/format";
import { Failure, Loading } from "../../ui/notices";
import { Budget } from "./Budget";

const GROUPINGS = ["day", "document", "stage", "model"] as const;
type Totals = Schemas["CostTotals"];
type Group = Totals & { name: string };

const tokensOf = (one: Totals) => one.prompt + one.completion;

function Row({ group, most, currency }: { group: Group; most: number; currency: string }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const money = useMoney();
  const size = group.money ?? tokensOf(group);
  return (
    <tr>
      <th scope="row">
        {group.name}
        <span className="track">
          <span className="fill" style={{ width: `${most ? (100 * size) / most : 0}%` }} />
        </span>
      </th>
      <td>{money(group.money, currency)}</td>
      <td title={`${format.number(group.prompt)} + ${format.number(group.completion)}`}>{format.compact(tokensOf(group))}</td>
      <td>{texts.calls(group.calls)}</td>
    </tr>
  );
}

function Groups({ groups, currency, label }: { groups: Group[]; currency: string; label: string }) {
  const texts = useTexts().operations;
  const most = Math.max(...groups.map((group) => group.money ?? tokensOf(group)), 0);
  return (
    <div className="wide-table" tabIndex={0} role="region" aria-label={label}>
      <table className="sheet costs">
        <thead>
          <tr>
            <th scope="col">{label}</th>
            <th scope="col">{texts.money(currency)}</th>
            <th scope="col">{texts.tokens}</th>
            <th scope="col">
              <span className="hidden">{texts.calls(2)}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <Row key={group.name} group={group} most={most} currency={currency} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The sums of every workspace that is known here, each asked for by itself: the API answers for one. */
function OfWorkspaces() {
  const texts = useTexts().operations;
  const known = useKnown(useWorkspace());
  const costs = useQueries({
    queries: known.map((workspace) => ({
      queryKey: [workspace, "cost", ""],
      queryFn: async () => data(await apiOf(workspace).GET("/operations/cost")),
    })),
  });
  const groups = costs.flatMap(({ data: one }) => (one ? [{ ...one.total, name: one.workspace }] : []));
  if (groups.length < 2) return null;
  return <Groups groups={groups} currency={costs[0]?.data?.currency ?? ""} label={texts.allWorkspaces} />;
}

function Sum({ report }: { report: Schemas["CostReport"] }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const money = useMoney();
  const { total, currency } = report;
  const facts: [string, string, string][] = [
    [texts.spent, money(total.money, currency), texts.calls(total.calls)],
    [texts.tokens, format.compact(tokensOf(total)), `${format.compact(total.prompt)} + ${format.compact(total.completion)}`],
    [texts.saved, money(total.saved_money, currency), `${format.compact(total.saved_tokens)} ${texts.tokens}`],
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value, hint]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong className="figure">{value}</strong>
          </dd>
          <dd className="hint">{hint}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What the workspace has paid to models for its documents, and what it may pay. */
export function Costs() {
  const texts = useTexts().operations;
  const format = useFormat();
  const api = useApi();
  const [by, setBy] = useState<(typeof GROUPINGS)[number]>("day");
  const cost = useQuery({
    queryKey: [useWorkspace(), "cost", by],
    queryFn: async () => data(await api.GET("/operations/cost", { params: { query: { by } } })),
    placeholderData: (before) => before,
  });
  if (cost.isPending) return <Loading />;
  if (cost.error) return <Failure error={cost.error} retry={() => void cost.refetch()} />;
  const { total, groups, currency, budget } = cost.data;
  return (
    <>
      <Sum report={cost.data} />
      {total.unpriced > 0 && <p className="hint">{texts.unpriced(format.number(total.unpriced))}</p>}
      {total.calls === 0 && <p className="hint">{texts.nothingSpent}</p>}
      {groups.length > 0 && (
        <>
          <fieldset className="filters">
            <legend className="hidden">{texts.groupBy}</legend>
            {GROUPINGS.map((id) => (
              <button key={id} type="button" className="chip" aria-pressed={by === id} onClick={() => setBy(id)}>
                {texts.groups[id]}
              </button>
            ))}
          </fieldset>
          <Groups groups={groups} currency={currency} label={texts.groups[by]} />
        </>
      )}
      <OfWorkspaces />
      <Budget budget={budget} />
    </>
  );
}
