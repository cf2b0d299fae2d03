import type { Schemas } from "../../api/client";
import { useTexts } from "../../texts";
import { Notice } from "../../ui/notices";

/** What a model did when it was asked one thing. */
export function TestResult({ tested }: { tested: Schemas["ModelTested"] }) {
  const texts = useTexts().operations.modelTab;
  return (
    <Notice kind={tested.works ? "info" : "error"} title={tested.works ? texts.works : texts.fails}>
      <p>
        {tested.result}
        {tested.works && ` · ${texts.seconds(tested.seconds)}`}
      </p>
    </Notice>
  );
}
