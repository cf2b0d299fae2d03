import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { data, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Confirm } from "../../ui/dialogs";
import { useFormat } from "../../ui/format";
import { Failure } from "../../ui/notices";
import { ServerText } from "../../ui/ServerText";

/** What could never succeed, with the reason; it is handled again or dropped. */
export function DeadLetters() {
  const texts = useTexts();
  const format = useFormat();
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const [dropping, setDropping] = useState<number | null>(null);
  const letters = useQuery({
    queryKey: [workspace, "dead-letters"],
    queryFn: async () => data(await api.GET("/operations/dead_letters", { params: { query: { limit: 100 } } })),
    refetchInterval: 10_000,
  });
  const handle = useMutation({
    mutationFn: async ({ number, what }: { number: number; what: "redrive" | "drop" }) => {
      const body = { numbers: [number], reason: "" };
      if (what === "redrive") await api.POST("/operations/dead_letters/redrive", { body });
      else await api.POST("/operations/dead_letters/drop", { body });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace, "dead-letters"] }),
  });
  const error = letters.error ?? handle.error;
  return (
    <section className="letters">
      <h2>
        {texts.log.deadLetters} {letters.data && <span>{format.number(letters.data.total)}</span>}
      </h2>
      {error && <Failure error={error} />}
      {letters.data?.total === 0 && <p className="hint">{texts.log.noDeadLetters}</p>}
      <ul>
        {letters.data?.dead_letters.map((letter) => (
          <li key={letter.number}>
            <div>
              <strong>{letter.stage}</strong> <span className="hint">{format.ago(letter.at)}</span>
              <p><ServerText text={letter.reason} /></p>
            </div>
            {mayWrite && (
              <>
                <Button icon={RotateCw} onPress={() => handle.mutate({ number: letter.number, what: "redrive" })}>
                  {texts.log.redrive}
                </Button>
                <Button look="danger" icon={Trash2} label={texts.log.drop} onPress={() => setDropping(letter.number)} />
              </>
            )}
          </li>
        ))}
      </ul>
      <Confirm
        title={texts.log.dropTitle}
        text={texts.log.dropText}
        action={texts.log.drop}
        isOpen={dropping !== null}
        onClose={() => setDropping(null)}
        onConfirm={() => dropping !== null && handle.mutate({ number: dropping, what: "drop" })}
      />
    </section>
  );
}
