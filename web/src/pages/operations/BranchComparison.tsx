import { useQuery } from "@tanstack/react-query";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { useFormat, useMoney } from "../../ui/format";
import { Failure, Loading } from "../../ui/notices";
import { BranchAnswers } from "./BranchAnswers";

const LISTED = 20;

type Difference = Schemas["BranchDifference"];

function Names({ mark, names }: { mark: string; names: string[] }) {
  return (
    <>
      {names.map((name) => (
        <li key={name}>
          <code>{mark}</code> {name}
        </li>
      ))}
    </>
  );
}

function Kind({ title, difference }: { title: string; difference: Difference }) {
  const texts = useTexts().operations.branchTab;
  return (
    <section>
      <h3>{title}</h3>
      <p>{texts.difference(difference)}</p>
      <ul className="hint">
        <Names mark="+" names={difference.appeared_names} />
        <Names mark="−" names={difference.went_names} />
        <Names mark="~" names={difference.changed_names} />
      </ul>
    </section>
  );
}

/** What a branch changes, and what models were paid for the documents of both. */
export function BranchComparison({ name }: { name: string }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const money = useMoney();
  const api = useApi();
  const mayWrite = useMayWrite();
  const comparison = useQuery({
    queryKey: [useWorkspace(), "branch-comparison", name],
    queryFn: async ({ signal }) => data(await api.GET("/branches/{name}/comparison", { params: { path: { name }, query: { limit: LISTED } }, signal })),
    staleTime: Infinity,
  });
  if (comparison.isPending) return <Loading />;
  if (comparison.error) return <Failure error={comparison.error} retry={() => void comparison.refetch()} />;
  const { entities, relations, origin_cost: before, branch_cost: now, currency } = comparison.data;
  const paid = (cost: Schemas["CostTotals"]) =>
    [texts.calls(cost.calls), `${format.compact(cost.prompt + cost.completion)} ${texts.tokens}`, money(cost.money, currency)].join(", ");
  return (
    <div className="comparison">
      <Kind title={texts.branchTab.entities} difference={entities} />
      <Kind title={texts.branchTab.relations} difference={relations} />
      <p className="hint">{texts.branchTab.paid(paid(before), paid(now))}</p>
      {mayWrite && <BranchAnswers name={name} />}
    </div>
  );
}
