import { useTexts } from "../../texts";
import { SAMPLE, SAMPLE_QUESTIONS } from "../documents/sample";
import { useDocuments } from "../documents/useDocuments";

const FIRST = Object.keys(SAMPLE)[0] ?? "";

/** Whether the small example is in the workspace, and has been read. */
export function useHasSample(): boolean {
  const found = useDocuments({ filter: "processed", sort: "file_path", descending: false, find: FIRST }, [1]);
  return found.data?.documents.some(({ file_path }) => file_path === FIRST) ?? false;
}

/** Questions that the small example answers, one of them in two steps over two documents. */
export function SampleQuestions({ onAsk }: { onAsk: (question: string) => void }) {
  const texts = useTexts().ask;
  const hasSample = useHasSample();
  if (!hasSample) return null;
  return (
    <ul className="filters" aria-label={texts.sampleQuestions}>
      {SAMPLE_QUESTIONS.map((question) => (
        <li key={question}>
          <button type="button" className="chip" onClick={() => onAsk(question)}>
            {question}
          </button>
        </li>
      ))}
    </ul>
  );
}
