import type { ReactNode } from "react";
import { useTexts } from "../../texts";
import { useFormat, useMoney } from "../../ui/format";

export interface Estimate {
  currency: string;
  money: number | null;
  models: { model: string; calls: number; prompt: number; completion: number }[];
}

/** What something would cost at most: what is meant, its price where models have one, and what each of them is asked. */
export function EstimatedCost({ estimate, children }: { estimate: Estimate; children: ReactNode }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const money = useMoney();
  return (
    <>
      <p>
        {children}
        {estimate.money !== null && <strong> {money(estimate.money, estimate.currency)}</strong>}
      </p>
      {estimate.models.length === 0 && <p className="hint">{texts.branchTab.nothingPaid}</p>}
      <ul>
        {estimate.models.map(({ model, calls, prompt, completion }) => (
          <li key={model} className="hint">
            {model}: {texts.calls(calls)}, {format.compact(prompt + completion)} {texts.tokens}
          </li>
        ))}
      </ul>
    </>
  );
}
