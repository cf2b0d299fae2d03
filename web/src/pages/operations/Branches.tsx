import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { GitBranch, Undo2 } from "lucide-react";
import { Link } from "react-router";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Empty, Failure, Loading } from "../../ui/notices";

type Branch = Schemas["BranchEntry"];

/** What is other in a branch than in its origin. */
function useDifferences(branch: Branch): string {
  const texts = useTexts().operations.branchTab;
  const parts = [
    branch.extract_model && texts.model(branch.extract_model),
    branch.prompt && texts.prompt,
    branch.entity_types && texts.types,
    branch.chunking && texts.chunking,
    branch.sample ? texts.sample(branch.sample) : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

function Row({ branch, onRollBack, isBusy }: { branch: Branch; onRollBack: (() => void) | undefined; isBusy: boolean }) {
  const texts = useTexts().operations.branchTab;
  const format = useFormat();
  return (
    <li>
      <div>
        <Link to={`/${branch.workspace}/documents`}>{branch.name}</Link> {branch.promoted && <span className="badge processed">{texts.answers}</span>}
        <p>{useDifferences(branch)}</p>
        <p className="hint">{[format.moment(branch.created_at), branch.actor, branch.reason].filter(Boolean).join(" · ")}</p>
      </div>
      {branch.promoted && onRollBack && (
        <Button icon={Undo2} isDisabled={isBusy} onPress={onRollBack}>
          {texts.rollBack}
        </Button>
      )}
    </li>
  );
}

/** The branches of the workspace; each is looked at and asked as a workspace of its own. */
export function Branches() {
  const texts = useTexts().operations.branchTab;
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const found = useQuery({ queryKey: [workspace, "branches"], queryFn: async () => data(await api.GET("/branches")) });
  const rollBack = useMutation({
    mutationFn: async () => data(await api.POST("/branches/rollback", { body: { reason: "" } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: [workspace, "branches"] }),
  });
  if (found.isPending) return <Loading />;
  if (found.error) return <Failure error={found.error} retry={() => void found.refetch()} />;
  if (found.data.length === 0) return <Empty icon={GitBranch} title={texts.none} />;
  return (
    <>
      <p className="hint">{texts.text}</p>
      {rollBack.error && <Failure error={rollBack.error} />}
      <section className="letters" aria-label={texts.title}>
        <ul>
          {found.data.map((branch) => (
            <Row key={branch.name} branch={branch} onRollBack={mayWrite ? () => rollBack.mutate() : undefined} isBusy={rollBack.isPending} />
          ))}
        </ul>
      </section>
    </>
  );
}
