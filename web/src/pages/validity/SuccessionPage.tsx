import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, Check, History, X } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { readUntil } from "../../api/looks";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button, Select } from "../../ui/controls";
import { Empty, Failure, Loading } from "../../ui/notices";

type Proposal = Schemas["SupersessionProposal"];
type Rule = Proposal["rule"];

const RULES: Rule[] = ["version", "amendment", "date"];
const LISTED = 200;

function DocumentLink({ id, name }: { id: string; name: string }) {
  return <Link to={`/${useWorkspace()}/documents/${encodeURIComponent(id)}`}>{name}</Link>;
}

function Row({ proposal, onDone }: { proposal: Proposal; onDone: () => void }) {
  const texts = useTexts().validity;
  const api = useApi();
  const mayWrite = useMayWrite();
  const { document_id, file_path, supersedes, superseded_file_path, evidence } = proposal;
  const decide = useMutation({
    mutationFn: async (is_accepted: boolean) => {
      const path = { document_id };
      await api.POST("/documents/{document_id}/validity/decisions", { params: { path }, body: { supersedes, is_accepted, reason: evidence } });
      await readUntil(
        async () => data(await api.GET("/documents/{document_id}/validity", { params: { path } })),
        (now) => (is_accepted ? now.supersedes : now.coexists_with).includes(supersedes),
      );
    },
    onSuccess: onDone,
  });
  if (decide.isSuccess) return null;
  return (
    <li>
      <div>
        <DocumentLink id={document_id} name={file_path} /> <span className="hint">{texts.mayReplace}</span>{" "}
        <DocumentLink id={supersedes} name={superseded_file_path} />
        <p className="hint">{evidence}</p>
        {decide.error && <Failure error={decide.error} />}
      </div>
      {mayWrite && (
        <div className="add">
          <Button icon={Check} isDisabled={decide.isPending} aria-label={texts.acceptOf(file_path, superseded_file_path)} onPress={() => decide.mutate(true)}>
            {texts.accept}
          </Button>
          <Button look="quiet" icon={X} isDisabled={decide.isPending} aria-label={texts.rejectOf(file_path, superseded_file_path)} onPress={() => decide.mutate(false)}>
            {texts.reject}
          </Button>
        </div>
      )}
    </li>
  );
}

/** Documents that, by their names, may supersede others, to be accepted or rejected. */
export default function SuccessionPage() {
  const all = useTexts();
  const texts = all.validity;
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const [rule, setRule] = useState<Rule | "all">("all");
  const found = useQuery({
    queryKey: [workspace, "succession", rule],
    queryFn: async () =>
      data(await api.GET("/documents/supersessions/proposals", { params: { query: { limit: LISTED, ...(rule === "all" ? {} : { rule: [rule] }) } } })),
  });
  const refresh = () => void queries.invalidateQueries({ queryKey: [workspace, "validity"] });
  return (
    <div className="page">
      <Link to={`/${workspace}/documents`} className="back">
        <ArrowLeft size={14} aria-hidden /> {all.documents.title}
      </Link>
      <header className="title">
        <h1>{texts.succession}</h1>
        <div className="add">
          <Select
            label={texts.rule}
            hideLabel
            value={rule}
            onChange={setRule}
            choices={[{ id: "all" as const, name: texts.allRules }, ...RULES.map((id) => ({ id, name: texts.rules[id] }))]}
          />
        </div>
      </header>
      <p className="hint">{texts.successionText}</p>
      {found.isPending && <Loading />}
      {found.error && <Failure error={found.error} retry={() => void found.refetch()} />}
      {found.data?.proposals.length === 0 && <Empty icon={History} title={texts.noProposals} />}
      {found.data && found.data.proposals.length > 0 && (
        <section className="letters" aria-label={texts.succession}>
          <ul>
            {found.data.proposals.map((proposal) => (
              <Row key={`${proposal.document_id}\n${proposal.supersedes}`} proposal={proposal} onDone={refresh} />
            ))}
          </ul>
        </section>
      )}
      {found.data && <p className="hint">{texts.looked(found.data.looked_at, found.data.documents)}</p>}
    </div>
  );
}
