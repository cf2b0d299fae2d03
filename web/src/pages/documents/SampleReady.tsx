import { useNavigate } from "react-router";
import { useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Notice } from "../../ui/notices";
import { SampleQuestions, useHasSample } from "../ask/SampleQuestions";
import { SAMPLE } from "./sample";

/** What to do with the small example once it is read. */
function Ready() {
  const texts = useTexts().documents;
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const hasSample = useHasSample();
  if (!hasSample) return null;
  return (
    <Notice title={texts.sampleReady}>
      <SampleQuestions onAsk={(question) => void navigate(`/${workspace}/ask?q=${encodeURIComponent(question)}`)} />
    </Notice>
  );
}

/** The same in a workspace with as many documents as the example has; where there are others, nobody needs it. */
export function SampleReady({ total }: { total: number }) {
  return total === Object.keys(SAMPLE).length ? <Ready /> : null;
}
