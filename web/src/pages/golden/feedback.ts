import type { Schemas } from "../../api/client";
import type { Turn } from "../ask/conversation";

const MODES = ["auto", "mix", "hybrid", "local", "global", "naive", "walk"] as const;
const MOST = { question: 4_000, answer: 50_000, documents: 200 };

/** What is sent of an answer with a thumb. */
export function feedbackOf(turn: Turn, rating: Schemas["FeedbackRequest"]["rating"], reason: string): Schemas["FeedbackRequest"] {
  const mode = MODES.find((name) => name === turn.question.mode);
  return {
    rating,
    reason,
    question: turn.question.query.slice(0, MOST.question),
    answer: turn.answer.slice(0, MOST.answer),
    ...(mode ? { mode } : {}),
    documents: turn.references.slice(0, MOST.documents).map(({ file_path, chunks }) => ({ file_path, id: chunks?.[0]?.document_id ?? "" })),
    ...(turn.position > 0 ? { position: turn.position } : {}),
  };
}
