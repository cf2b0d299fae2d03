import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { data, useApi, useWorkspace } from "../../api/client";
import { useSeesAll } from "../../api/principal";
import { useLanguage, useTexts } from "../../texts";
import { Notice } from "../../ui/notices";
import { languageName } from "./languageNames";

/** Says that most passages are in a language that the model of their vectors does not know, and where to choose one that does. */
export function LanguageNotice() {
  const texts = useTexts().documents;
  const api = useApi();
  const workspace = useWorkspace();
  const seesAll = useSeesAll();
  const language = useLanguage();
  const languages = useQuery({
    queryKey: [workspace, "languages"],
    queryFn: async () => data(await api.GET("/documents/languages")),
    staleTime: 60_000,
  });
  if (!languages.data?.unknown_language) return null;
  const { unknown_language: unknown, embedding_model: model, advised_model: advised } = languages.data;
  const name = languageName(unknown, language);
  return (
    <Notice title={texts.unknownLanguage(name)}>
      {texts.unknownLanguageText(name, model)} {seesAll && advised && <Link to={`/${workspace}/operations?tab=models`}>{texts.chooseEmbedding}</Link>}
    </Notice>
  );
}
