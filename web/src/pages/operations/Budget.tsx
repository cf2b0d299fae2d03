import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Schemas, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button, Select, TextInput } from "../../ui/controls";
import { useFormat, useMoney } from "../../ui/format";
import { Failure, Notice } from "../../ui/notices";

type State = Schemas["BudgetState"];
const PERIODS = ["total", "month", "day"] as const;
type Period = (typeof PERIODS)[number];

function Used({ budget }: { budget: State }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const money = useMoney();
  const limits: [string, number, number, string][] = [];
  if (typeof budget.money === "number")
    limits.push(["money", budget.spent_money ?? 0, budget.money, texts.spentOf(money(budget.spent_money ?? 0, budget.currency), money(budget.money, budget.currency))]);
  if (typeof budget.tokens === "number")
    limits.push(["tokens", budget.spent_tokens ?? 0, budget.tokens, `${texts.spentOf(format.number(budget.spent_tokens ?? 0), format.number(budget.tokens))} ${texts.tokens}`]);
  if (limits.length === 0) return <p className="hint">{texts.noBudget}</p>;
  return (
    <>
      {budget.exceeded && <Notice kind="warning">{budget.exceeded}</Notice>}
      {limits.map(([name, spent, limit, words]) => (
        <div key={name} className="progress">
          <span className="track" role="meter" aria-label={words} aria-valuemin={0} aria-valuemax={limit} aria-valuenow={Math.min(spent, limit)}>
            <span className="fill" style={{ width: `${limit ? Math.min(100, (100 * spent) / limit) : 100}%` }} />
          </span>
          <p>
            {words} <span className="hint">{budget.period ? texts.periods[budget.period] : ""}</span>
          </p>
        </div>
      ))}
    </>
  );
}

/** What the workspace may pay; setting it replaces what was set before. */
export function Budget({ budget }: { budget: State }) {
  const texts = useTexts().operations;
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const [money, setMoney] = useState("");
  const [tokens, setTokens] = useState("");
  const [period, setPeriod] = useState<Period>(budget.period ?? "month");
  const change = useMutation({
    mutationFn: async (isSet: boolean) => {
      const limit = (text: string) => (text.trim() ? Number(text) : null);
      if (isSet) await api.PUT("/operations/budget", { body: { money: limit(money), tokens: limit(tokens), period, reason: "" } });
      else await api.DELETE("/operations/budget");
    },
    onSuccess: () => {
      setMoney("");
      setTokens("");
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace, "cost"] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(true);
  };
  const isSet = typeof budget.money === "number" || typeof budget.tokens === "number";
  return (
    <section className="box">
      <h2>{texts.budget}</h2>
      <p className="hint">{texts.budgetText}</p>
      <Used budget={budget} />
      {change.error && <Failure error={change.error} />}
      {mayWrite && (
        <form className="form-row" onSubmit={submit}>
          <TextInput label={texts.money(budget.currency)} value={money} onChange={setMoney} />
          <TextInput label={texts.tokens} value={tokens} onChange={setTokens} />
          <Select label={texts.period} value={period} onChange={setPeriod} choices={PERIODS.map((id) => ({ id, name: texts.periods[id] }))} />
          <Button type="submit" look="primary" isDisabled={change.isPending || !(Number(money) >= 0 && Number(tokens) >= 0 && (money.trim() || tokens.trim()))}>
            {texts.set}
          </Button>
          {isSet && <Button onPress={() => change.mutate(false)}>{texts.clear}</Button>}
        </form>
      )}
    </section>
  );
}
