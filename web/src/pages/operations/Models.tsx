import { useMutation, useQuery } from "@tanstack/react-query";
import { data, type Schemas, useApi } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure, Loading, Notice } from "../../ui/notices";
import { EmbeddingModel } from "./EmbeddingModel";
import { ModelForm } from "./ModelForm";
import { TestResult } from "./TestResult";

type UsedModel = Schemas["UsedModel"];

function InUse({ model }: { model: UsedModel }) {
  const texts = useTexts().operations.modelTab;
  const api = useApi();
  const mayWrite = useMayWrite();
  const test = useMutation({
    mutationFn: async () => data(await api.POST("/operations/models/test", { body: { part: model.part, role: model.roles[0] ?? null, candidate: null } })),
  });
  const isBuiltIn = model.binding === "built-in";
  return (
    <li className="model">
      <div>
        <strong>{texts.parts[model.part]}</strong>
        {model.roles.length > 0 && <span className="hint"> · {model.roles.map((role) => texts.roles[role]).join(", ")}</span>}
        <p>
          {model.model || texts.ownModel} <span className="hint">{[isBuiltIn ? texts.builtIn : model.binding, model.address].filter(Boolean).join(" · ")}</span>
        </p>
        {!isBuiltIn && <span className={model.has_key ? "badge processed" : "badge"}>{model.has_key ? texts.hasKey : texts.noKey}</span>}
      </div>
      {mayWrite && (
        <Button isDisabled={test.isPending} label={texts.testOf(model.model || model.binding)} onPress={() => test.mutate()}>
          {test.isPending ? texts.asking : texts.test}
        </Button>
      )}
      {test.error && <Failure error={test.error} />}
      {test.data && <TestResult tested={test.data} />}
    </li>
  );
}

/** The models that answer, embed and rerank; each can be tried, and so can others. */
export function Models() {
  const texts = useTexts().operations.modelTab;
  const api = useApi();
  const mayWrite = useMayWrite();
  const found = useQuery({ queryKey: ["", "models"], queryFn: async () => data(await api.GET("/operations/models")) });
  if (found.isPending) return <Loading />;
  if (found.error) return <Failure error={found.error} />;
  const { models, are_here } = found.data;
  if (!are_here) {
    return (
      <>
        <Notice>{texts.elsewhere}</Notice>
        <EmbeddingModel />
      </>
    );
  }
  return (
    <>
      <section>
        <h2>{texts.inUse}</h2>
        {!models.some(({ part }) => part === "language") && <p className="hint">{texts.noLanguage}</p>}
        <ul className="models">
          {models.map((model) => (
            <InUse key={`${model.part} ${model.roles.join(" ")}`} model={model} />
          ))}
        </ul>
      </section>
      <EmbeddingModel />
      {mayWrite && <ModelForm used={found.data} />}
    </>
  );
}
