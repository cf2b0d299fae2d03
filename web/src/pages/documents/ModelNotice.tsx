import { Link } from "react-router";
import { useWorkspace } from "../../api/client";
import { useConfiguration } from "../../api/configuration";
import { useSeesAll } from "../../api/principal";
import { useTexts } from "../../texts";
import { Notice } from "../../ui/notices";

/** Says that no language model is set, and where to choose one. */
export function ModelNotice() {
  const texts = useTexts().documents;
  const workspace = useWorkspace();
  const seesAll = useSeesAll();
  const configuration = useConfiguration();
  if (!configuration || configuration.llm_model) return null;
  return (
    <Notice title={texts.noModel}>
      {texts.noModelText} {seesAll && <Link to={`/${workspace}/operations?tab=models`}>{texts.chooseModel}</Link>}
    </Notice>
  );
}
