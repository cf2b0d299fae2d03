import { useTexts } from "../../texts";

interface Hit {
  id: string;
  file_path: string;
  score: number;
  text: string;
}

export interface ComparedQuestions {
  k: number;
  overlap: number;
  questions: { question: string; overlap: number; live: Hit[]; new: Hit[] }[];
}

const percent = (share: number) => `${Math.round(share * 100)} %`;

/** What one generation finds and the other does not. */
function Only({ title, hits, others }: { title: string; hits: Hit[]; others: Hit[] }) {
  const known = new Set(others.map(({ id }) => id));
  const own = hits.filter(({ id }) => !known.has(id));
  if (own.length === 0) return null;
  return (
    <>
      <h4>{title}</h4>
      <ul>
        {own.map(({ id, file_path, score, text }) => (
          <li key={id}>
            {file_path} <span className="hint">{score.toFixed(2)}</span>
            <p className="hint">{text}…</p>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Sample questions that both generations of vectors were asked, each with the share of passages that both found. */
export function Compared({ compared: { k, overlap, questions } }: { compared: ComparedQuestions }) {
  const texts = useTexts().operations;
  return (
    <section className="compared" aria-label={texts.questions}>
      <p>{texts.overlap(k, percent(overlap))}</p>
      {questions.map((one) => (
        <details key={one.question}>
          <summary>
            {one.question} <span className="hint">{percent(one.overlap)}</span>
          </summary>
          <Only title={texts.onlyLive} hits={one.live} others={one.new} />
          <Only title={texts.onlyNew} hits={one.new} others={one.live} />
          {one.overlap === 1 && <p className="hint">{texts.sameFound}</p>}
        </details>
      ))}
    </section>
  );
}
