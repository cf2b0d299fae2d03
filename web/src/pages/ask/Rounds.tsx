import { useTexts } from "../../texts";
import type { SearchRound } from "./stream";

/** What a question with more than low effort did before it was answered, round by round. */
export function Rounds({ rounds }: { rounds: SearchRound[] }) {
  const texts = useTexts().ask;
  if (rounds.length === 0) return null;
  const passages = rounds.reduce((sum, round) => sum + round.new_passages, 0);
  return (
    <details className="rounds">
      <summary>{texts.rounds(rounds.length, passages)}</summary>
      <ol>
        {rounds.map((round, place) => (
          <li key={place}>
            {round.missing && <p>{round.missing}</p>}
            {(round.steps ?? []).map((step) => (
              <p key={`${step.tool} ${step.arguments}`}>
                <b>{texts.tools[step.tool] ?? step.tool}</b> {step.arguments}
                <span className="hint"> {step.error || texts.passagesRead(step.passages)}</span>
              </p>
            ))}
            {!round.steps?.length && round.searches.map((search) => <p key={search}>{search}</p>)}
            {round.ended && <p className="hint">{texts.ended(round.ended)}</p>}
          </li>
        ))}
      </ol>
    </details>
  );
}
