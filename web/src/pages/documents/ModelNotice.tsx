import { useConfiguration } from "../../api/configuration";
import { useTexts } from "../../texts";
import { Notice } from "../../ui/notices";

/** Says that no language model is set, and the way out. */
export function ModelNotice() {
  const texts = useTexts();
  const configuration = useConfiguration();
  if (!configuration || configuration.llm_model) return null;
  return <Notice title={texts.documents.noModel}>{texts.documents.noModelText}</Notice>;
}
